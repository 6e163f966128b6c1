import type { Request, RequestHandler } from 'express';
import ipaddr from 'ipaddr.js';
import { RunError } from '../../runtime/core/errors.js';
import { isJsonType } from '../../runtime/wire/json-body.js';
import type { Sessions } from './sessions.js';

export function isLoopback(host: string): boolean {
  if (host === 'localhost') return true;
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback';
}

/**
 * Refuses requests that come by another name than this machine's own: a page elsewhere can let its own name lead here
 * (DNS rebinding). For consoles that only this machine reaches.
 */
export const requireOwnName: RequestHandler = ({ headers }, _response, next) => {
  const url = `http://${headers.host ?? ''}`;
  const name = URL.canParse(url) ? new URL(url).hostname.replace(/^\[(.*)\]$/, '$1') : '';
  if (isLoopback(name)) return next();
  throw new RunError('forbidden', 'this console answers to localhost and 127.0.0.1 only; use one of them');
};

/** Refuses what other pages ask a browser to send. */
export const refuseOtherPages: RequestHandler = ({ headers }, _response, next) => {
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return next();
  throw new RunError('forbidden', 'only the page of this console may ask');
};

const READING = new Set(['GET', 'HEAD']);

/**
 * Refuses changes without a header that no form can send, and no other page without being allowed to. The cookie alone is
 * not enough, for pages at other ports of this host belong to the same site.
 */
export const requireIntent: RequestHandler = ({ method, headers }, _response, next) => {
  if (READING.has(method)) return next();
  if (headers['x-slipway-console'] !== '1')
    throw new RunError('forbidden', 'the header X-Slipway-Console must be 1');
  if (!isJsonType(headers['content-type'] ?? ''))
    throw new RunError('unsupported_media', 'the content type must be application/json');
  next();
};

export function requireSession(sessions: Sessions): RequestHandler {
  return (request: Request, _response, next) => {
    if (sessions.find(request)) return next();
    throw new RunError('unauthorized', 'no session; sign in with the key of the console');
  };
}
