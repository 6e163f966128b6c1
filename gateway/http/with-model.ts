import type { Response } from 'express';
import { RunError } from '../../runtime/core/errors.js';
import { abortControllerOf } from '../../runtime/wire/middleware.js';
import type { ModelEntry } from '../catalog/entry.js';
import { type Meter, meterOf, type Tier } from '../meters.js';
import type { Lease, Upstream } from '../upstream/upstream.js';
import { callContext } from './call-context.js';

export interface ModelParts {
  upstream: Upstream;
  tiers: readonly Tier[];
  /** Longest wait for a model to start. */
  startMs: number;
  /** Longest time of a call at its model, from when a server has it to the end of its answer. */
  callMs: number;
}

/** A server of a model, for one call. */
export interface ModelServer {
  /** Without a path. */
  url: string;
  /** Aborted when the caller has left, waits for too long, or the call takes too long. */
  signal: AbortSignal;
  /** What the call cost so far, as headers of its answer: of a streamed answer, until its first piece. */
  headers(): Record<string, string>;
}

/** Servers that are asked in turn when they turn out to be gone. */
const TRIES = 3;

/**
 * Holds a server of the model while `use` asks it, and notes what that cost. A server that is gone before it has seen
 * the request costs the caller nothing but time: the next one is asked.
 * @throws RunError `not_ready` when the model has not started in time, or what the upstream or `use` throws
 */
export async function withModel(
  entry: ModelEntry,
  response: Response,
  parts: ModelParts,
  use: (server: ModelServer) => Promise<void>,
): Promise<void> {
  const asked = performance.now();
  const call = callContext(response);
  const giveUp = abortControllerOf(response);
  const { signal } = giveUp;
  const meter = meterOf(entry, parts.tiers);
  for (let tries = 1; ; tries++) {
    const lease = await acquire(entry, giveUp, parts);
    const deadline = setTimeout(() => giveUp.abort(tookTooLong(parts.callMs)), parts.callMs);
    const started = performance.now();
    const { url, cold } = lease;
    call.cold = cold;
    call.waitedMs = started - asked;
    call.work = { started, perSecond: meter.perSecond };
    const headers = () => ({
      ...costHeaders(meter, (performance.now() - started) / 1000),
      ...(cold ? { 'inference-cold-start': 'true' } : {}),
    });
    try {
      return await use({ url, signal, headers });
    } catch (error) {
      if (isTimeout(signal.reason)) void lease.suspect?.();
      if (!isSilence(error)) throw error;
      // Before the caller is told: its next call must not end there, too.
      await lease.suspect?.();
      if (!isUnseen(error) || response.headersSent || tries === TRIES) throw error;
    } finally {
      clearTimeout(deadline);
      lease.release();
    }
  }
}

function tookTooLong(callMs: number): RunError {
  return new RunError('timeout', `the model has not finished within ${callMs / 1000} s (--call-timeout)`);
}

function isTimeout(error: unknown): boolean {
  return error instanceof RunError && error.code === 'timeout';
}

function isSilence(error: unknown): error is RunError {
  return error instanceof RunError && error.code === 'engine_crashed';
}

/** Of connections that never came about: nobody has begun to work. */
const UNSEEN = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);

function isUnseen({ cause }: RunError): boolean {
  return UNSEEN.has((cause as NodeJS.ErrnoException | undefined)?.code ?? '');
}

function costHeaders({ meter, meterPrice, perSecond }: Meter, seconds: number): Record<string, string> {
  return {
    'inference-meter': meter,
    'inference-meter-price': meterPrice,
    'inference-time': seconds.toFixed(3),
    'inference-cost': (seconds * perSecond).toFixed(10),
  };
}

async function acquire(
  entry: ModelEntry,
  giveUp: AbortController,
  { upstream, startMs }: ModelParts,
): Promise<Lease> {
  const why = `${entry.modelId} has not started within ${startMs / 1000} s`;
  const late = () => giveUp.abort(new RunError('not_ready', why, { retryAfter: 30 }));
  const timer = setTimeout(late, startMs);
  try {
    return await upstream.acquire(entry, giveUp.signal);
  } finally {
    // The longest wait is many minutes: a timer left behind by each call would add up.
    clearTimeout(timer);
  }
}
