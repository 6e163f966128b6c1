import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';

export interface DirectRoute {
  /** True for the requests to handle. */
  matches(request: IncomingMessage): boolean;
  /** The path that a router would be mounted on. */
  baseUrl: string;
  /** Called in order; each either throws or calls `next`. */
  handlers: readonly RequestHandler[];
  onError: ErrorRequestHandler;
  /** Answers all other requests. */
  fallback: RequestListener;
}

/**
 * Calls the handlers of model requests, which are nearly all requests, without a router: a router changes the prototypes of
 * request and response, which slows down all later work on them (bench/gateway.mjs).
 */
export function routeDirectly(route: DirectRoute): RequestListener {
  const { matches, fallback } = route;
  return (request, response) => {
    if (matches(request)) void answer(request, response, route);
    else fallback(request, response);
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { baseUrl, handlers, onError }: DirectRoute,
): Promise<void> {
  const expressRequest = Object.assign(request, {
    ...{ originalUrl: request.url!, baseUrl, path: request.url!.split('?', 1)[0]! },
  }) as Request;
  const expressResponse = Object.assign(response, { locals: {} }) as unknown as Response;
  try {
    for (const handler of handlers) await handler(expressRequest, expressResponse, next);
  } catch (error) {
    onError(error, expressRequest, expressResponse, next);
  }
}

/** The `next` of the handlers, which are called in a loop; errors are thrown instead of passed to it. */
const next = (): void => {};
