import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from './errors.js';
import { responseError } from './hub-errors.js';

export interface HubOptions {
  /** Address of the hub or a mirror, e.g. `https://huggingface.co`; may hold a user and a password. */
  endpoint: string;
  /** Goes along as a Bearer token, unless the address holds a user and a password: a request has one Authorization. */
  token?: string | undefined;
  fetch?: typeof fetch;
  /** Longest wait for the headers of an answer; 30 s. */
  firstByteMs?: number;
  /** Longest time in which a body may bring less than a kibibyte; 60 s. */
  stallMs?: number;
  /** Tries of each small request; 4. */
  attempts?: number;
  /** First wait between tries; 500 ms. */
  backoffMs?: number;
}

/**
 * A fetch for one hub: adds the token to requests for the hub's own origin and to no other, bounds the wait for the
 * headers, and turns every answer that isn't a success into a StoreError. Redirects to another host lose the token
 * inside fetch itself.
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
    // fetch would quote the token in its own complaint.
    if (token && !/^[\x21-\x7e]+$/.test(token)) throw malformedToken();
    const headers = new Headers(init.headers);
    headers.set('user-agent', 'slipway');
    if (authorization && url.origin === origin) headers.set('authorization', authorization);
    const response = await within(firstByteMs, init.signal ?? undefined, options.endpoint, (signal) =>
      send(url, { ...init, headers, signal }),
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

/** Runs a request that is given up when no headers come in time. The signal goes on to govern the body. */
async function within(
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

/** A failed connection in words that name the address. */
export function unreachableEndpoint(endpoint: string, cause: unknown): StoreError {
  return new StoreError('network', `no connection to ${endpoint} (${reasonOf(cause)})`, {
    remedy: 'check the network, or set HF_ENDPOINT to a hub that this machine reaches',
    cause,
  });
}

/** Fetch hides what happened ("fetch failed", "terminated") in its cause. */
function reasonOf(error: unknown): string {
  const cause = (error as Error | undefined)?.cause as NodeJS.ErrnoException | undefined;
  return cause?.code ?? (cause?.message || (error as Error | undefined)?.message || String(error));
}

/** A connection that brings less than this in `stallMs` is given up: what drips would keep a start for days. */
const LEAST_BYTES = 1024;

/**
 * Bytes of a body. A silence longer than `stallMs`, a drip, or a connection that breaks, is a retryable StoreError.
 * The connection is closed when the reader leaves early.
 */
export async function* responseBody(
  response: Response,
  { endpoint, stallMs = 60_000, signal }: { endpoint: string; stallMs?: number; signal?: AbortSignal },
): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (!reader) return;
  let bytes = 0;
  // Only the time spent on waiting counts: a slow disk is not the hub's fault.
  let waitedMs = 0;
  const leave = () => void reader.cancel().catch(() => undefined);
  // Not left to fetch alone, whose own tie to the signal is a weak one.
  signal?.addEventListener('abort', leave);
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
      if (bytes >= LEAST_BYTES) bytes = waitedMs = 0;
      yield chunk.value;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw unreachableEndpoint(endpoint, error);
  } finally {
    signal?.removeEventListener('abort', leave);
    leave();
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
