import type { lookup } from 'node:dns';
import { Agent, interceptors, request } from 'undici';
import { RunError } from '../core/errors.js';
import { connectionProblem } from '../network/connection-problem.js';
import type { Outgoing } from '../network/certificates.js';
import { createAddressGuard } from './address-guard.js';
import { mediaTooLarge } from './base64.js';
import { guardedConnector } from './guarded-connector.js';

/**
 * Fetches the bytes behind a caller's URL.
 * @param onBytes told of each piece as it comes; what it throws ends the fetch
 */
export type FetchMedia = (
  url: string,
  signal: AbortSignal,
  onBytes?: (bytes: number) => void,
) => Promise<Uint8Array>;

export interface FetchMediaOptions {
  /** Private hosts, addresses or networks that callers may name (ALLOW_PRIVATE_URLS). */
  allowPrivate: readonly string[];
  maxBytes: number;
  timeoutMs: number;
  /** Proxies and certificate authorities. */
  outgoing: Outgoing;
  /** The system's look-up of names unless given. */
  resolve?: typeof lookup;
}

const MAX_REDIRECTS = 3;

/**
 * Fetches foreign URLs without becoming a way into the operator's network: the address that is connected to, on every
 * redirect hop, has to be public or allowed. Proxies are used, too, but not trusted with this: see guarded-connector.ts.
 */
export function createFetchMedia(options: FetchMediaOptions): FetchMedia {
  const { allowPrivate, maxBytes, timeoutMs } = options;
  const guard = createAddressGuard(allowPrivate);
  const agent = new Agent({
    connect: guardedConnector(guard, options),
    maxResponseSize: maxBytes,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  const dispatcher = agent.compose(interceptors.redirect({ maxRedirections: MAX_REDIRECTS }));
  return async (url, signal, onBytes = () => {}) => {
    const target = parseUrl(url);
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const response = await request(target, { dispatcher, signal: limit, headers: { accept: '*/*' } });
      if (response.statusCode !== 200) {
        await response.body.dump();
        throw new RunError('unprocessable', `url: answered with status ${response.statusCode}`);
      }
      return await readAll(response.body, maxBytes, onBytes);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw asRunError(error, { maxBytes, timeoutMs });
    }
  };
}

function parseUrl(url: string): URL {
  if (!URL.canParse(url)) throw new RunError('invalid_input', 'url: is not a valid address');
  const parsed = new URL(url);
  if (parsed.protocol === 'http:' || parsed.protocol === 'https:') return parsed;
  throw new RunError('unprocessable', 'url: only http and https addresses are fetched');
}

async function readAll(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  onBytes: (bytes: number) => void,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw mediaTooLarge(maxBytes);
    onBytes(chunk.length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function asRunError(
  error: unknown,
  { maxBytes, timeoutMs }: { maxBytes: number; timeoutMs: number },
): RunError {
  if (error instanceof RunError) return error;
  const { name, code } = error as { name?: string; code?: string };
  if (name === 'BlockedAddress') {
    return new RunError(
      'unprocessable',
      'url: leads to a private, local or otherwise reserved address; the operator can allow it (ALLOW_PRIVATE_URLS)',
    );
  }
  if (name === 'UnresolvedName') {
    return new RunError(
      'unprocessable',
      "url: this server can't resolve the name, which it checks before it asks its proxy; the operator can allow the host (ALLOW_PRIVATE_URLS)",
    );
  }
  const problem = connectionProblem(error);
  if (problem) {
    const text = `url: can't be fetched (${problem.fact}); the operator can ${problem.remedy}`;
    return new RunError('unprocessable', text, { cause: error });
  }
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return mediaTooLarge(maxBytes);
  if (name === 'TimeoutError' || /TIMEOUT/.test(code ?? '')) {
    return new RunError('unprocessable', `url: did not answer within ${timeoutMs / 1000} s (MEDIA_TIMEOUT)`);
  }
  return new RunError('unprocessable', `url: can't be fetched (${code ?? name ?? 'unknown error'})`, {
    cause: error,
  });
}
