import { type Request, type RequestHandler, type Response, Router } from 'express';
import type { z } from 'zod';
import { RunError } from '../core/errors.js';
import type { TaskId } from '../core/task-ids.js';
import type { Logger } from '../log.js';
import { errorHandler, refuseMethod } from '../wire/middleware.js';
import type { sendError } from '../wire/respond.js';
import type { DialectHost } from './host.js';

/** One call of a route. */
export interface DialectCall {
  request: Request;
  response: Response;
  host: DialectHost;
}

export interface DialectRoute {
  method: 'GET' | 'POST';
  /** Express pattern, below the base. */
  path: string;
  /** One sentence, for the OpenAPI documents. */
  summary: string;
  /** Tasks of the models that it is for; all if absent. */
  tasks?: readonly TaskId[];
  /** The JSON body, where it has one. */
  body?: z.ZodType;
  /** Answers without a key, as probes of load balancers have none. */
  open?: boolean;
  handle(call: DialectCall): Promise<void> | void;
}

/** The interface of another server: its routes, in its own shapes, over the tasks of the models here. */
export interface Dialect {
  /** Short name, for documents and ids of operations. */
  name: string;
  title: string;
  routes: readonly DialectRoute[];
  /** First segments that belong to it alone: other paths below them are its 404. */
  prefixes?: readonly string[];
  /** Its requests name no model: it is mounted where the address is that of one. */
  oneModel?: boolean;
  sendError: typeof sendError;
}

export interface MountOptions {
  hostOf(request: Request): DialectHost;
  /** Requires a key and counts the call, where the operator wants that. */
  authorize?: RequestHandler | undefined;
  logger: Logger;
}

/** Routes of a dialect, with its own errors for all that goes wrong below them; other paths are passed on. */
export function dialectRouter(dialect: Dialect, { hostOf, authorize, logger }: MountOptions): Router {
  // Not strict: some clients end addresses with a slash.
  const router = Router({ caseSensitive: true });
  const before = authorize ? [authorize] : [];
  for (const path of new Set(dialect.routes.map((route) => route.path))) {
    const routes = dialect.routes.filter((route) => route.path === path);
    const route = router.route(path);
    for (const { method, open, handle } of routes) {
      const answer: RequestHandler = (request, response) =>
        handle({ request, response, host: hostOf(request) });
      route[method === 'GET' ? 'get' : 'post'](...(open ? [] : before), answer);
    }
    // The root belongs to several: other methods of it are answered elsewhere.
    if (path !== '/') route.all(allowOnly(routes.map(({ method }) => method)));
  }
  for (const prefix of dialect.prefixes ?? []) router.use(prefix, ...before, noRoute(dialect));
  router.use(errorHandler(logger, dialect.sendError));
  return router;
}

/** Answers 405 to every other method of a route. */
function allowOnly(methods: readonly string[]): RequestHandler {
  const allowed = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
  return ({ method }, response) => refuseMethod(method, response, allowed);
}

function noRoute({ routes }: Dialect): RequestHandler {
  const paths = [...new Set(routes.map(({ path }) => path))].join(', ');
  return () => {
    throw new RunError('not_found', `no such route; there are ${paths}`);
  };
}
