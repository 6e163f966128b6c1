import { randomUUID } from 'node:crypto';
import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import { describe, RunError } from '../core/errors.js';
import type { Logger } from '../log.js';
import { clientClosedRequest, releaseOnClose } from './lifetime.js';
import { asRunError, sendEnvelope, sendError } from './respond.js';

/** Gives each request an id, for the log and for whoever complains. */
export const assignRequestId: RequestHandler = (_request, response, next) => {
  response.locals['requestId'] = randomUUID();
  response.setHeader('X-Request-Id', response.locals['requestId'] as string);
  next();
};

/** Express hands back what it finds no path in (`GET http://[`), before any handler of ours. */
export function sendInvalidAddress(response: Response): void {
  sendEnvelope(response, 400, { error: 'the address of the request is not valid', output: null });
}

/** The only place that answers errors, in the envelope or as `send` words them. */
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

/** As `gone`, for those who may give up for other reasons: one controller a call, which costs more than it looks. */
export function abortControllerOf(response: Response): AbortController {
  const controller = new AbortController();
  releaseOnClose(response, () => {
    if (!response.writableFinished) controller.abort(clientClosedRequest());
  });
  return controller;
}
