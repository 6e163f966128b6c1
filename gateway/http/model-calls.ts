import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';

export interface ModelCalls {
  /** Where models lie. */
  base: string;
  /** First segments below it that are no organisations. */
  reserved: readonly string[];
  /** In their order; each either throws or leaves the call to the next. */
  handlers: readonly RequestHandler[];
  onError: ErrorRequestHandler;
  /** Takes all other calls. */
  otherwise: RequestListener;
}

/**
 * Calls of models are nearly all that a gateway answers. They go to their handlers without a router: that gives each
 * request and response other prototypes, which makes all later work on them slow (bench/gateway.mjs).
 */
export function modelCalls(calls: ModelCalls): RequestListener {
  const { base, reserved, otherwise } = calls;
  const path = new RegExp(`^${base}/(?!(?:${reserved.join('|')})(?:[/?]|$))`);
  return (request, response) => {
    if (request.method === 'POST' && path.test(request.url!)) void answer(request, response, calls);
    else otherwise(request, response);
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { base, handlers, onError }: ModelCalls,
): Promise<void> {
  const asked = Object.assign(request, {
    ...{ originalUrl: request.url!, baseUrl: base, path: request.url!.split('?', 1)[0]! },
  }) as Request;
  const answered = Object.assign(response, { locals: {} }) as unknown as Response;
  try {
    for (const handler of handlers) await handler(asked, answered, ignored);
  } catch (error) {
    onError(error, asked, answered, ignored);
  }
}

/** Handlers are called one after the other; what they would hand on, they throw. */
const ignored = (): void => {};
