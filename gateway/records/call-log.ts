import type { Logger } from '../../runtime/log.js';
import type { FinishedCall } from './finished-call.js';

/** Logs one line per finished call. */
export function callLog(logger: Logger): (call: FinishedCall) => void {
  return ({ requestId, traceId, method, path, status, code, milliseconds, keyId, model, cold, waitedMs }) => {
    const ms = Math.round(milliseconds);
    const facts = { requestId, traceId, keyId, model: model?.modelId, task: model?.task, status, code, ms };
    const waiting = waitedMs === undefined ? {} : { cold, waitedMs: Math.round(waitedMs) };
    // Health checks come every few seconds.
    const level = path === '/livez' || path === '/health' ? 'debug' : 'info';
    logger[level]({ ...facts, ...waiting }, `${method} ${printable(path)}`);
  };
}

/** Keeps long paths, control characters and keys in addresses out of the log. */
function printable(path: string): string {
  return path
    .slice(0, 200)
    .replace(/[^\x21-\x7e]/g, '?')
    .replace(/slw_[\w-]+/g, 'slw_…');
}
