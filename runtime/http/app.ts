import { randomUUID } from 'node:crypto';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { describe, RunError } from '../core/errors.js';
import type { Logger } from '../log.js';
import type { ResolveMedia } from '../media/resolve.js';
import { authorize } from './authorize.js';
import { healthRoutes } from './health.js';
import { jsonBody } from './json-body.js';
import type { Metrics } from './metrics.js';
import { asRunError, sendError } from './respond.js';
import { runHandler } from './run.js';
import type { ModelService } from './service.js';

export interface AppDependencies {
  service: ModelService;
  resolveMedia: ResolveMedia;
  metrics: Metrics;
  logger: Logger;
  /** OpenAPI document of this very model. */
  openapi: object;
  /** Demands this key on /run. */
  requiredKey: string | undefined;
  maxBodyBytes: number;
  /** Told of each finished /run, for analytics. */
  onRun?: (event: { status: number; milliseconds: number }) => void;
}

/** The HTTP face of one model. Builds the application only; listening is the caller's. */
export function createApp(dependencies: AppDependencies): Express {
  const { service, metrics, logger, openapi, requiredKey, maxBodyBytes } = dependencies;
  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.use(identify, metrics.observe, logRequests(logger));
  app.use(healthRoutes(service));
  app.get('/metrics', metrics.handler);
  app.get('/openapi.json', (_request, response) => {
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.end(JSON.stringify(openapi));
  });
  const guards = requiredKey === undefined ? [] : [authorize(requiredKey)];
  app.post(
    '/run',
    reportRuns(dependencies.onRun),
    ...guards,
    ...jsonBody(maxBodyBytes),
    runHandler(dependencies),
  );
  app.use(methods, notFound, onError(logger));
  return app;
}

const identify: RequestHandler = (_request, response, next) => {
  response.locals['requestId'] = randomUUID();
  response.setHeader('X-Request-Id', response.locals['requestId'] as string);
  next();
};

/** Method, route, status and time of each answer; health checks only when debugging. Never a body or a header. */
function logRequests(logger: Logger): RequestHandler {
  return (request, response, next) => {
    const started = performance.now();
    response.once('close', () => {
      const entry = {
        requestId: response.locals['requestId'] as string,
        status: response.headersSent ? response.statusCode : 499,
        ms: Math.round(performance.now() - started),
      };
      const level = request.path === '/run' ? 'info' : 'debug';
      logger[level](entry, `${request.method} ${request.path.slice(0, 100)}`);
    });
    next();
  };
}

function reportRuns(onRun: AppDependencies['onRun']): RequestHandler {
  return (_request, response, next) => {
    const started = performance.now();
    response.once('close', () => {
      onRun?.({ status: response.statusCode, milliseconds: Math.round(performance.now() - started) });
    });
    next();
  };
}

const ALLOWED: Record<string, string> = {
  '/run': 'POST',
  ...Object.fromEntries(
    ['/health', '/livez', '/status', '/metrics', '/openapi.json'].map((path) => [path, 'GET, HEAD']),
  ),
};

const methods: RequestHandler = (request, response, next) => {
  const allowed = Object.hasOwn(ALLOWED, request.path) ? ALLOWED[request.path] : undefined;
  if (allowed === undefined) return next();
  response.setHeader('Allow', allowed);
  throw new RunError('method_not_allowed', `${request.method} is not allowed here; allowed: ${allowed}`);
};

const notFound: RequestHandler = () => {
  throw new RunError(
    'not_found',
    'no such route; the model answers POST /run, its description is at /openapi.json',
  );
};

/** The only place that answers errors. */
function onError(logger: Logger): ErrorRequestHandler {
  return (thrown, _request, response, _next) => {
    const error = asRunError(thrown);
    const requestId = response.locals['requestId'] as string;
    response.locals['error'] = error;
    if (error.status >= 500 || !(thrown instanceof RunError)) {
      const detail = error.cause ?? (thrown instanceof RunError ? undefined : thrown);
      logger.error({ requestId, code: error.code, detail: detail && describe(detail) }, error.message);
    }
    if (response.headersSent || response.destroyed) response.destroy();
    else sendError(response, error, requestId);
  };
}
