import { RunError } from '../../runtime/core/errors.js';
import { NO_ANSWER } from './proxy.js';

/** Decides whether a call that failed may go to another server. /run changes nothing, so a second try does no harm. */
export interface TryAgain {
  /** Milliseconds to pause before it goes there; undefined if the error is for the caller. */
  pauseAfter(error: unknown): number | undefined;
}

/** Longest time for which a call is sent on by servers that stop. */
const REFUSED_MS = 15_000;
/** Tries of a call that reached no server. */
const MAX_TRIES = 3;
const LONGEST_PAUSE_MS = 1000;

/** Errors of connections that were never established. */
const CONNECT_ERRORS = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);
/** Errors of connections that broke. */
const BROKEN = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** For one call. A connection that broke before the answer counts once only: the call itself may be what ends servers. */
export function createTryAgain(now: () => number = () => performance.now()): TryAgain {
  const began = now();
  let refusals = 0;
  let tries = 1;
  let broken = false;
  return {
    pauseAfter(error) {
      if (isRefusal(error)) {
        const pauseMs = refusals === 0 ? 0 : Math.min(LONGEST_PAUSE_MS, 25 * 2 ** refusals);
        refusals++;
        return now() + pauseMs - began > REFUSED_MS ? undefined : pauseMs;
      }
      const code = codeOf(error);
      const isBroken = BROKEN.has(code);
      if (!isBroken && !CONNECT_ERRORS.has(code)) return undefined;
      if ((isBroken && broken) || tries === MAX_TRIES) return undefined;
      broken ||= isBroken;
      tries++;
      return 0;
    },
  };
}

/** The server stops and has not begun with the call. */
export function isRefusal(error: unknown): boolean {
  return error instanceof RunError && error.code === 'stopping';
}

/** Code of the error that ended the connection before the answer's headers; else empty. */
function codeOf(error: unknown): string {
  if (!(error instanceof RunError) || error.message !== NO_ANSWER) return '';
  return (error.cause as NodeJS.ErrnoException | undefined)?.code ?? '';
}
