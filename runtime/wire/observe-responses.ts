import type { RequestHandler, Response } from 'express';
import type { ErrorCode, ErrorReason, RunError } from '../core/errors.js';
import type { Progress } from '../core/progress.js';
import { spanOf } from './trace-requests.js';

/** Facts about a finished response, for log, metrics and analytics. Of the caller's data it holds only the path. */
export interface ResponseSummary {
  requestId: string;
  /** The trace that the request is part of, if it is followed. */
  traceId?: string | undefined;
  method: string;
  /** One of our routes, exactly. */
  route: string | undefined;
  path: string;
  /** The model was asked, or would have been with a valid body. */
  ranModel: boolean;
  /** 499 when the caller left before the status line. */
  status: number;
  /** Why it failed. `cancelled`: the caller left before the end. */
  code: ErrorCode | undefined;
  reason?: ErrorReason | undefined;
  milliseconds: number;
  /** How far the work came, where it goes on in steps. */
  progress?: Progress | undefined;
}

/** Calls `onFinished` once for each request, when the answer is sent or the caller has left. */
export function observeResponses(
  routes: ReadonlySet<string>,
  onFinished: (answer: ResponseSummary, response: Response) => void,
): RequestHandler {
  return (request, response, next) => {
    const started = performance.now();
    const { method, path } = request;
    response.once('close', () =>
      onFinished(
        {
          requestId: response.locals['requestId'] as string,
          traceId: spanOf(response)?.context.traceId,
          ...{ method, path, route: routes.has(path) ? path : undefined },
          ranModel: path === '/run' || response.locals['ranModel'] === true,
          status: response.headersSent ? response.statusCode : 499,
          code: codeOf(response),
          reason: (response.locals['error'] as RunError | undefined)?.reason,
          milliseconds: performance.now() - started,
          progress: response.locals['progress'] as Progress | undefined,
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
