import type { RequestHandler, Response } from 'express';
import type { ErrorCode, RunError } from '../core/errors.js';

/** What is known of one answer, for the log, the metrics and the analytics: nothing that the caller wrote but a path. */
export interface ResponseSummary {
  requestId: string;
  method: string;
  /** One of our routes, exactly. */
  route: string | undefined;
  path: string;
  /** 499 when the caller left before the status line. */
  status: number;
  /** Why it failed. `cancelled`: the caller left before the end. */
  code: ErrorCode | undefined;
  milliseconds: number;
}

/** Calls `tell` once for each request, when its answer has gone out or its caller has left. */
export function observeResponses(
  routes: ReadonlySet<string>,
  tell: (answer: ResponseSummary, response: Response) => void,
): RequestHandler {
  return (request, response, next) => {
    const started = performance.now();
    const { method, path } = request;
    response.once('close', () =>
      tell(
        {
          requestId: response.locals['requestId'] as string,
          ...{ method, path, route: routes.has(path) ? path : undefined },
          status: response.headersSent ? response.statusCode : 499,
          code: codeOf(response),
          milliseconds: performance.now() - started,
        },
        response,
      ),
    );
    next();
  };
}

function codeOf(response: Response): ErrorCode | undefined {
  const error = response.locals['error'] as RunError | undefined;
  return error?.code ?? (response.writableFinished ? undefined : 'cancelled');
}
