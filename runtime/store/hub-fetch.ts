import { setTimeout as sleep } from 'node:timers/promises';
import { connectionProblem } from '../network/connection-problem.js';
import { StoreError } from './errors.js';
import { responseError } from './hub-errors.js';

export interface HubOptions {
  /** Address of the hub or a mirror, e.g. `https://huggingface.co`; may have a user and a password. */
  endpoint: string;
  /** Sent as a Bearer token, unless the address has a user and a password. */
  token?: string | undefined;
  fetch?: typeof fetch;
  /** Longest wait for the response headers; 30 s. */
  firstByteMs?: number;
  /** A body with less than a kibibyte in this time is given up; 60 s. */
  stallMs?: number;
  /** Tries of each small request; 4. */
  attempts?: number;
  /** First delay between tries; 500 ms. */
  backoffMs?: number;
}

/**
 * A fetch for one hub: adds the token to requests for the hub's own origin only, limits the wait for the headers, and
 * throws a StoreError for every answer that is not a success. fetch itself drops the token at redirects to other hosts.
 */
export function hubFetch(
  options: HubOptions & { authorization?: string | undefined },
  id: string,
): typeof fetch {
  const { token, firstByteMs = 30_000, fetch: send = fetch } = options;
  const authorization = options.authorization ?? (token && `Bearer ${token}`);
  const origin = new URL(options.endpoint).origin;
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    // Checked here, because the error of fetch would quote the token.
    if (token && !/^[\x21-\x7e]+$/.test(token)) throw malformedToken();
    const headers = new Headers(init.headers);
    headers.set('user-agent', 'slipway');
    if (authorization && url.origin === origin) headers.set('authorization', authorization);
    const response = await withHeaderTimeout(
      firstByteMs,
      init.signal ?? undefined,
      options.endpoint,
      (signal) => send(url, { ...init, headers, signal }),
    );
    const problem = await responseError(response, {
      id,
      endpoint: options.endpoint,
      hasToken: Boolean(token),
    });
    if (!problem) return response;
    await response.body?.cancel().catch(() => undefined);
    throw problem;
  };
}

function malformedToken(): StoreError {
  return new StoreError('unauthorized', 'the token holds blanks or characters that no token has', {
    remedy: 'check HF_TOKEN',
  });
}

/** Aborts the request when no headers arrive in time. The outer signal also aborts the body. */
async function withHeaderTimeout(
  ms: number,
  outer: AbortSignal | undefined,
  endpoint: string,
  send: (signal: AbortSignal) => Promise<Response>,
): Promise<Response> {
  const inner = new AbortController();
  const timer = setTimeout(() => inner.abort(new Error(`no answer within ${ms / 1000} s`)), ms);
  try {
    return await send(outer ? AbortSignal.any([outer, inner.signal]) : inner.signal);
  } catch (error) {
    outer?.throwIfAborted();
    throw unreachableEndpoint(endpoint, error);
  } finally {
    clearTimeout(timer);
  }
}

const UNREACHABLE_REMEDY =
  'check the network and its proxy (HTTPS_PROXY), or set HF_ENDPOINT to a hub that this machine reaches';

/** The error of a failed connection, with the address. */
export function unreachableEndpoint(endpoint: string, cause: unknown): StoreError {
  const problem = connectionProblem(cause);
  return new StoreError('network', `no connection to ${endpoint} (${problem?.fact ?? reasonOf(cause)})`, {
    remedy: problem?.remedy ?? UNREACHABLE_REMEDY,
    cause,
  });
}

/** fetch puts the real reason into the cause of its "fetch failed" and "terminated". */
function reasonOf(error: unknown): string {
  const cause = (error as Error | undefined)?.cause as NodeJS.ErrnoException | undefined;
  return cause?.code ?? (cause?.message || (error as Error | undefined)?.message || String(error));
}

/** A connection that transfers less than this in `stallMs` is given up: it could delay a start for days. */
const MIN_PROGRESS_BYTES = 1024;

/**
 * Reads a body. A stalled, very slow or broken connection is a retryable StoreError. The connection is closed when the
 * reader stops early.
 */
export async function* responseBody(
  response: Response,
  { endpoint, stallMs = 60_000, signal }: { endpoint: string; stallMs?: number; signal?: AbortSignal },
): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (!reader) return;
  let bytes = 0;
  // Only time spent waiting for the hub counts, not that of a slow disk.
  let waitedMs = 0;
  const cancel = () => void reader.cancel().catch(() => undefined);
  // fetch holds the signal only weakly, so listen here as well.
  signal?.addEventListener('abort', cancel);
  try {
    for (;;) {
      signal?.throwIfAborted();
      const started = performance.now();
      const chunk = await nextChunk(reader, stallMs - waitedMs);
      if (chunk === undefined) throw new Error(`${bytes || 'no'} bytes for ${stallMs / 1000} s`);
      signal?.throwIfAborted();
      if (chunk.done) return;
      waitedMs += performance.now() - started;
      bytes += chunk.value.length;
      if (bytes >= MIN_PROGRESS_BYTES) bytes = waitedMs = 0;
      yield chunk.value;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw unreachableEndpoint(endpoint, error);
  } finally {
    signal?.removeEventListener('abort', cancel);
    cancel();
  }
}

/** The next chunk, or undefined when none came in time. */
async function nextChunk(reader: ReadableStreamDefaultReader<Uint8Array>, waitMs: number) {
  const timer = new AbortController();
  const stalled = sleep(Math.max(1, waitMs), undefined, { signal: timer.signal }).catch(() => undefined);
  try {
    return await Promise.race([reader.read(), stalled]);
  } finally {
    timer.abort();
  }
}
