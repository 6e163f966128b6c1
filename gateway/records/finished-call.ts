import type { Response } from 'express';
import type { ResponseSummary } from '../../runtime/wire/observe-responses.js';
import type { ModelEntry } from '../catalog/entry.js';
import { callContext } from '../http/call-context.js';
import type { TokenCounts } from '../http/usage-headers.js';

/** A call that has ended, as the log, the metrics, the usage and the audit log know it. Never a key or a body. */
export interface FinishedCall extends ResponseSummary {
  /** IP address at the other end of the connection. */
  address: string;
  keyId: string | undefined;
  /** Start of the hash of a key that nobody was given. */
  refusedKey: string | undefined;
  /** A model of the catalogue, exactly. */
  model: Pick<ModelEntry, 'modelId' | 'task'> | undefined;
  /** The model had to be started for it. */
  cold: boolean;
  /** Milliseconds until a server of the model was there; undefined where none was. */
  waitedMs: number | undefined;
  /** That a server was held for it. */
  seconds: number;
  /** Dollars. */
  cost: number;
  /** Undefined where the model counts none, or the caller has left before. */
  tokens: TokenCounts | undefined;
}

/** @param response closed by now */
export function finishedCall(answer: ResponseSummary, response: Response): FinishedCall {
  const {
    address = 'unknown',
    key,
    refusedKey,
    model,
    cold = false,
    waitedMs,
    tokens,
    work,
  } = callContext(response);
  const seconds = work ? (performance.now() - work.started) / 1000 : 0;
  const cost = seconds * (work?.perSecond ?? 0);
  // Field by field: spreading both into one was 4 % of what a call costs.
  const { requestId, method, route, path, status, code, milliseconds } = answer;
  return {
    requestId,
    method,
    route,
    path,
    status,
    code,
    milliseconds,
    address,
    keyId: key?.id,
    refusedKey,
    model,
    cold,
    waitedMs,
    seconds,
    cost,
    tokens,
  };
}
