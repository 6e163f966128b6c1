import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { RunError } from '../../runtime/core/errors.js';
import { connectionProblem } from '../../runtime/network/connection-problem.js';
import { NO_ANSWER } from '../http/proxy.js';
import { type Attempt, type Breaker, createBreaker } from './breaker.js';
import { cleaned } from './faults.js';
import { followedKey } from './key.js';
import { readText } from './read-json.js';
import { errorIn, refusalOf } from './refusals.js';
import type { Remote } from './remote.js';
import { BUSY, createPatience, retryAfterOf } from './retry.js';

/** A server of others that answers for one model. */
export interface Provider {
  readonly modelId: string;
  readonly remote: Remote;
  /**
   * Resolves when the provider has begun with an answer of status 2xx; the caller ends its `attempt`.
   * @throws RunError for everything else, or the signal's reason
   */
  ask(request: ProviderRequest, signal: AbortSignal): Promise<ProviderAnswer>;
  /** An answer came without its tokens: they are missing in the usage, which is logged once. */
  uncounted(): void;
}

export interface ProviderRequest {
  /** Below the provider's address. */
  path: string;
  /** JSON. */
  body: string | Buffer;
  headers: Readonly<Record<string, string>>;
}

export interface ProviderAnswer {
  statusCode: number;
  headers: IncomingHttpHeaders;
  body: Readable;
  attempt: Attempt;
  /** Words of the provider, as they may be shown. */
  clean(text: string): string;
}

export interface ProviderParts {
  dispatcher: Dispatcher;
  log: (line: string) => void;
  /** Longest time that a call waits while the provider is busy. */
  mostWaitMs?: number | undefined;
}

/** Largest answer to read of a refusal. */
const REFUSAL_BYTES = 2 ** 16;

export function createProvider(modelId: string, remote: Remote, parts: ProviderParts): Provider {
  const { log } = parts;
  const breaker = createBreaker({ name: modelId, log });
  const readKey = remote.keyFile === undefined ? undefined : followedKey(remote.keyFile, log);
  const timeoutMs = remote.timeout * 1000;

  async function keyOf(): Promise<string | undefined> {
    return readKey?.().catch((cause: unknown) => {
      const message = `the key of ${modelId} can't be read; its operator has to check remote.keyFile in the catalogue`;
      throw new RunError('remote_failed', message, { cause });
    });
  }

  function send(
    { path, body, headers }: ProviderRequest,
    key: string | undefined,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const { origin, pathname } = new URL(remote.url);
    return parts.dispatcher.request({
      ...{ origin, path: pathname.replace(/\/$/, '') + path, method: 'POST', body, signal },
      ...{ headersTimeout: timeoutMs, bodyTimeout: timeoutMs },
      headers: { 'content-type': 'application/json', ...headers, ...keyHeaders(remote, key) },
    });
  }

  /** The error of an answer with another status. */
  async function refuse(
    answer: Dispatcher.ResponseData,
    key: string | undefined,
  ): Promise<{ error: RunError; retryAfterMs: number | undefined }> {
    const { statusCode: status, headers } = answer;
    const text = await readText(answer.body, modelId, REFUSAL_BYTES).catch(() => '');
    const { message, code } = errorIn(jsonOrText(text));
    const retryAfterMs = retryAfterOf(headers['retry-after']);
    const error = refusalOf({
      ...{ modelId, remote, status, code, message: cleaned(message, key) },
      retryAfter: retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1000),
    });
    return { error, retryAfterMs };
  }

  let isTold = false;
  return {
    ...{ modelId, remote },
    uncounted() {
      if (!isTold) log(`the provider of ${modelId} does not tell tokens: they are missing in the usage`);
      isTold = true;
    },
    async ask(request, signal) {
      const patience = createPatience(parts.mostWaitMs);
      for (;;) {
        const key = await keyOf();
        signal.throwIfAborted();
        const attempt = beginAttempt(breaker, signal);
        const answer = await send(request, key, signal).catch((error: unknown) => {
          attempt.failed();
          signal.throwIfAborted();
          throw silence(modelId, remote, error);
        });
        const { statusCode, headers, body } = answer;
        const clean = (text: string) => cleaned(text, key);
        if (statusCode >= 200 && statusCode < 300) return { statusCode, headers, body, attempt, clean };
        const { error, retryAfterMs } = await refuse(answer, key);
        const pauseMs = BUSY.has(statusCode) ? patience.next(retryAfterMs) : undefined;
        if (pauseMs !== undefined) attempt.abandoned();
        else if (statusCode < 500) attempt.succeeded();
        else attempt.failed();
        signal.throwIfAborted();
        if (pauseMs === undefined) throw error;
        await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
      }
    },
  };
}

/** What fails when the caller has left says nothing of the provider. */
function beginAttempt(breaker: Breaker, signal: AbortSignal): Attempt {
  const attempt = breaker.begin();
  return { ...attempt, failed: () => (signal.aborted ? attempt.abandoned() : attempt.failed()) };
}

const KEY_HEADERS = { openai: 'authorization', anthropic: 'x-api-key', slipway: 'authorization' } as const;

function keyHeaders({ kind, keyHeader }: Remote, key: string | undefined): Record<string, string> {
  const version: Record<string, string> = kind === 'anthropic' ? { 'anthropic-version': '2023-06-01' } : {};
  if (key === undefined) return version;
  const name = keyHeader ?? KEY_HEADERS[kind];
  return { ...version, [name]: name === 'authorization' ? `Bearer ${key}` : key };
}

/** The error for a provider that has sent nothing, or nothing more. */
export function silence(modelId: string, remote: Remote, error: unknown): RunError {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
    const message = `the provider of ${modelId} has sent nothing for ${remote.timeout} s (remote.timeout); try again`;
    return new RunError('timeout', message);
  }
  const problem = connectionProblem(error);
  const cause = problem ? `${remote.url}: ${problem.fact}; ${problem.remedy}` : error;
  return new RunError('engine_crashed', NO_ANSWER, { cause });
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
