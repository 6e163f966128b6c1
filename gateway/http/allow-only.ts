import type { RequestHandler } from 'express';
import { RunError } from '../../runtime/core/errors.js';

/** Answers 405 to every other method of a route. */
export function allowOnly(method: string): RequestHandler {
  return (request, response) => {
    response.setHeader('Allow', method);
    throw new RunError('method_not_allowed', `${request.method} is not allowed here; allowed: ${method}`);
  };
}
