import type { RequestHandler } from 'express';
import { RunError } from '../../runtime/core/errors.js';

/** Refuses what comes to a route by another method. */
export function allowOnly(method: string): RequestHandler {
  return (request, response) => {
    response.setHeader('Allow', method);
    throw new RunError('method_not_allowed', `${request.method} is not allowed here; allowed: ${method}`);
  };
}
