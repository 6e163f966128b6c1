import { lookup as resolveHost, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Agent, buildConnector, interceptors, request } from 'undici';
import { RunError } from '../core/errors.js';
import { type AddressGuard, createAddressGuard } from './address-guard.js';
import { mediaTooLarge } from './base64.js';

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
}

const MAX_REDIRECTS = 3;

/**
 * Fetches foreign URLs without becoming a way into the operator's network: the address that is connected to, on every
 * redirect hop, has to be public or allowed. Checking the resolved address at connect time leaves no gap for DNS
 * rebinding; literal addresses skip the look-up, so they are checked by the connector.
 */
export function createFetchMedia({ allowPrivate, maxBytes, timeoutMs }: FetchMediaOptions): FetchMedia {
  const guard = createAddressGuard(allowPrivate);
  const agent = new Agent({
    connect: guardedConnector(guard, timeoutMs),
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

class BlockedAddress extends Error {
  override name = 'BlockedAddress';
}

function guardedConnector(guard: AddressGuard, timeout: number): buildConnector.connector {
  const connect = buildConnector({ timeout, lookup: guardedLookup(guard) });
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '');
    const literal = /^[\d.]+$|:/.test(host);
    if (literal && !guard.allows(host)) return callback(new BlockedAddress(host), null);
    connect(options, callback);
  };
}

/** Refuses a name when any of its addresses is not allowed: which one is connected to is not ours to choose. */
function guardedLookup(guard: AddressGuard): LookupFunction {
  return (hostname, options, callback) => {
    resolveHost(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error) return callback(error, [], 0);
      const blocked = !guard.allowsHost(hostname) && addresses.find(({ address }) => !guard.allows(address));
      if (blocked || addresses.length === 0) return callback(new BlockedAddress(hostname), [], 0);
      if (options.all) callback(null, addresses);
      else callback(null, addresses[0]!.address, addresses[0]!.family);
    });
  };
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
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return mediaTooLarge(maxBytes);
  if (name === 'TimeoutError' || /TIMEOUT/.test(code ?? '')) {
    return new RunError('unprocessable', `url: did not answer within ${timeoutMs / 1000} s (MEDIA_TIMEOUT)`);
  }
  return new RunError('unprocessable', `url: can't be fetched (${code ?? name ?? 'unknown error'})`, {
    cause: error,
  });
}
