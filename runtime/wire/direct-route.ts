import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';

export interface DirectRoute {
  /** The requests that are meant. */
  matches(request: IncomingMessage): boolean;
  /** What a router would be mounted on. */
  baseUrl: string;
  /** In their order; each either throws or leaves the request to the next. */
  handlers: readonly RequestHandler[];
  onError: ErrorRequestHandler;
  /** Answers all other requests. */
  fallback: RequestListener;
}

/**
 * Requests for models are nearly all that a server answers. They go to their handlers without a router: that gives each
 * request and response other prototypes, which makes all later work on them slow (bench/gateway.mjs).
 */
export function routeDirectly(way: DirectRoute): RequestListener {
  const { matches: takes, fallback: otherwise } = way;
  return (request, response) => {
    if (takes(request)) void answer(request, response, way);
    else otherwise(request, response);
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { baseUrl, handlers, onError }: DirectRoute,
): Promise<void> {
  const asked = Object.assign(request, {
    ...{ originalUrl: request.url!, baseUrl, path: request.url!.split('?', 1)[0]! },
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
