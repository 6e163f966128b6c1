import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Response } from 'express';
import { USAGE_HEADERS } from '../core/usage.js';
import { parseOrigins } from './origins.js';
import { NOT_BEGUN, sendEnvelope } from './respond.js';

/** Which pages may call from a browser (CORS). */
export interface CorsOptions {
  /** Origins such as `https://app.example`; `*` stands for all. */
  origins: readonly string[];
  /** What the operator writes before an origin to allow it, for the refusal. */
  setting: string;
}

/** Headers of answers that scripts of a page may read. */
const EXPOSED = [
  ...[
    'X-Request-Id',
    'X-Slipway-Ignored',
    'Retry-After',
    NOT_BEGUN.name,
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
  ],
  ...['inference-meter', 'inference-meter-price', 'inference-time', 'inference-cost', 'inference-cold-start'],
  ...Object.values<string>(USAGE_HEADERS),
].join(', ');

/** Browsers keep the answer to a preflight no longer than two hours. */
const MAX_AGE_SECONDS = 7200;

/**
 * Answers the preflights of browsers, without a key, and lets pages of the allowed origins read the answers of `app`. Keys
 * are sent in Authorization, never in cookies, so no credentials are allowed.
 */
export function withCors(app: RequestListener, options: CorsOptions): RequestListener {
  return (request, response) => {
    const { origin } = request.headers;
    const allowed = allowedOrigin(origin, options);
    if (allowed !== '*' && options.origins.length > 0) response.setHeader('Vary', 'Origin');
    if (allowed !== undefined) response.setHeader('Access-Control-Allow-Origin', allowed);
    if (isPreflight(request)) return answerPreflight(request, response, { allowed, options });
    if (allowed !== undefined) response.setHeader('Access-Control-Expose-Headers', EXPOSED);
    return app(request, response);
  };
}

/** Value of Access-Control-Allow-Origin; undefined where the page may not. */
function allowedOrigin(origin: string | undefined, { origins }: CorsOptions): string | undefined {
  if (origin === undefined) return undefined;
  if (origins.includes('*')) return '*';
  return origins.includes(origin) ? origin : undefined;
}

function isPreflight({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}

interface Preflight {
  allowed: string | undefined;
  options: CorsOptions;
}

function answerPreflight(
  { headers }: IncomingMessage,
  response: ServerResponse,
  { allowed, options }: Preflight,
): void {
  response.setHeader('Vary', 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers');
  if (allowed === undefined) {
    const { origin = '' } = headers;
    const named = parseOrigins(origin)?.length === 1 && origin.length < 300 ? origin : 'the origin';
    const error = `pages of this origin may not call this server; the operator can allow them (${options.setting}${named})`;
    return sendEnvelope(response as Response, 403, { error, output: null });
  }
  response.setHeader('Access-Control-Allow-Methods', 'GET, HEAD, POST');
  // Clients send headers of their own with each call, which do no harm.
  const wanted = headers['access-control-request-headers'];
  if (wanted && /^[\w!#$%&'*+.^`|~, -]{1,4096}$/.test(wanted))
    response.setHeader('Access-Control-Allow-Headers', wanted);
  response.setHeader('Access-Control-Max-Age', MAX_AGE_SECONDS);
  response.writeHead(204).end();
}
