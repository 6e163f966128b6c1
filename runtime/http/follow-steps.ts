import type { Response } from 'express';
import type { Progress } from '../core/progress.js';
import type { Logger } from '../log.js';

/** Time between two lines about one request. */
const LOG_EVERY_MS = 30_000;

/**
 * Notes how far a request is, for the line that the log gets when it is answered or its caller has left; of long work it gets one
 * every half minute before that.
 */
export function followSteps({ locals }: Response, logger: Logger): (progress: Progress) => void {
  let logged = performance.now();
  return (progress) => {
    locals['progress'] = progress;
    const now = performance.now();
    if (now - logged < LOG_EVERY_MS) return;
    logged = now;
    logger.info({ requestId: locals['requestId'] as string, ...progress }, 'at work');
  };
}
