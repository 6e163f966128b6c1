import { randomUUID } from 'node:crypto';
import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import { describe, RunError } from '../core/errors.js';
import type { Logger } from '../log.js';
import { clientClosedRequest, releaseOnClose } from './lifetime.js';
import { asRunError, sendEnvelope, sendError } from './respond.js';

/** Gives each request an id, for the log and for support. */
export const assignRequestId: RequestHandler = (_request, response, next) => {
  response.locals['requestId'] = randomUUID();
  response.setHeader('X-Request-Id', response.locals['requestId'] as string);
  next();
};

/** Answers requests whose URL Express can't parse (`GET http://[`); our handlers don't get them. */
export function sendInvalidAddress(response: Response): void {
  sendEnvelope(response, 400, { error: 'the address of the request is not valid', output: null });
}

/** Answers 405 to a method that a route does not have. @param allowed what the route has, such as `GET, HEAD` */
export function refuseMethod(method: string, response: Response, allowed: string): never {
  response.setHeader('Allow', allowed);
  throw new RunError('method_not_allowed', `${method} is not allowed here; allowed: ${allowed}`);
}

/** Answers all errors, in the envelope or in the format of `send`. */
export function errorHandler(logger: Logger, send: typeof sendError = sendError): ErrorRequestHandler {
  return (thrown, _request, response, _next) => {
    const error = asRunError(thrown);
    const requestId = response.locals['requestId'] as string;
    response.locals['error'] = error;
    if (error.status >= 500 || !(thrown instanceof RunError)) {
      const detail = error.cause ?? (thrown instanceof RunError ? undefined : thrown);
      logger.error({ requestId, code: error.code, detail: detail && describe(detail) }, error.message);
    }
    if (response.writableEnded) return;
    if (response.headersSent || response.destroyed) response.destroy();
    else send(response, error, requestId);
  };
}

/** Aborts when the client leaves before its answer is complete. */
export const abortSignalOf = (response: Response): AbortSignal => abortControllerOf(response).signal;

/** The controller behind `abortSignalOf`, for code that also aborts for other reasons. One per call, as each is costly. */
export function abortControllerOf(response: Response): AbortController {
  const controller = new AbortController();
  releaseOnClose(response, () => {
    if (!response.writableFinished) controller.abort(clientClosedRequest());
  });
  return controller;
}
