import type { RequestListener } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import { RunError } from '../core/errors.js';
import { dialectRouter } from '../dialects/dialect.js';
import { DIALECTS } from '../dialects/registry.js';
import { recordLater } from '../core/outbox.js';
import type { Logger } from '../log.js';
import { type ResponseSummary, observeResponses } from '../wire/observe-responses.js';
import { authorize } from './authorize.js';
import { containerHost } from './dialect-host.js';
import { healthRoutes } from './health.js';
import type { Metrics } from './metrics.js';
import { bareApplication } from '../wire/application.js';
import { PAGE_FILES, playgroundRoutes } from '../wire/playground.js';
import { withCors } from '../wire/cors.js';
import { routeDirectly } from '../wire/direct-route.js';
import { assignRequestId, errorHandler, refuseMethod, sendInvalidAddress } from '../wire/middleware.js';
import { sendJson } from '../wire/respond.js';
import { traceRequests } from '../wire/trace-requests.js';
import { passOn, type Tracer } from '../tracing/tracer.js';
import { endSpan } from './end-span.js';
import { type RunDependencies, runHandler } from './run.js';

export interface AppDependencies extends RunDependencies {
  metrics: Metrics;
  /** Makes the OpenAPI document of this model, when it is first asked for: starts are not to wait for it. */
  openapi(): object;
  /** Origins of pages that may call from a browser (ALLOW_ORIGINS); none if absent. */
  origins?: readonly string[];
  /** Folder with the files of the page for people; no page if absent. */
  playground?: URL;
  /** Follows the traces of callers; records nothing if absent. */
  tracer?: Tracer;
  /** Key required on /run. */
  requiredKey: string | undefined;
  /** Called after each /run, for analytics. */
  onRun?: (event: { status: number; milliseconds: number }) => void;
}

/** Builds the application that serves one model. The caller makes it listen. */
export function createServerApp(dependencies: AppDependencies): RequestListener {
  const { service, metrics, logger, requiredKey } = dependencies;
  let openapi: string | undefined;
  const app = bareApplication();
  const tell = tellAll(dependencies);
  const observed = [
    assignRequestId,
    observeResponses(ROUTES, (answer, response) => {
      endSpan(answer, response, service.spec);
      tell(answer);
    }),
  ];
  app.use(...observed, methods);
  app.use(healthRoutes(service));
  app.get('/metrics', metrics.handler);
  app.get('/openapi.json', (_request, response) => {
    sendJson(response, 200, (openapi ??= JSON.stringify(dependencies.openapi())));
  });
  const authorized = requiredKey === undefined ? undefined : authorize(requiredKey);
  const run = [...(authorized ? [authorized] : []), runHandler(dependencies)];
  // For requests that the direct route does not match: a proxy may send an absolute URL instead of a path.
  app.post('/run', ...run);
  if (dependencies.playground) app.use(playgroundRoutes(dependencies.playground));
  const host = containerHost(dependencies);
  for (const dialect of DIALECTS)
    app.use(dialectRouter(dialect, { hostOf: () => host, authorize: authorized, logger }));
  const fail = errorHandler(logger);
  app.use(notFound, fail);
  const routed = routeDirectly({
    matches: ({ method, url }) => method === 'POST' && /^\/run(?:\?|$)/.test(url!),
    ...{ baseUrl: '', handlers: [...observed, ...run], onError: fail },
    fallback: (request, response) =>
      app(request as Request, response as Response, () => sendInvalidAddress(response as Response)),
  });
  const traced = traceRequests(dependencies.tracer ?? passOn, routed);
  return withCors(traced, { origins: dependencies.origins ?? [], setting: 'ALLOW_ORIGINS=' });
}

function tellAll({ metrics, logger, onRun }: AppDependencies): (answer: ResponseSummary) => void {
  return recordLater<ResponseSummary>((answer) => {
    metrics.count(answer);
    log(logger, answer);
    const milliseconds = Math.round(answer.milliseconds);
    if (answer.ranModel) onRun?.({ status: answer.status, milliseconds });
  }).put;
}

/** Logs method, route, status and time of each answer; health checks at debug level. Never bodies or headers. */
function log(
  logger: Logger,
  { requestId, traceId, method, ranModel, path, status, code, milliseconds, progress }: ResponseSummary,
): void {
  const level = ranModel ? 'info' : 'debug';
  const ms = Math.round(milliseconds);
  logger[level]({ requestId, traceId, status, code, ms, ...progress }, `${method} ${path.slice(0, 100)}`);
}

const ALLOWED: Record<string, readonly string[]> = {
  '/run': ['POST'],
  ...Object.fromEntries(
    ['/health', '/livez', '/status', '/version', '/metrics', '/openapi.json', ...PAGE_FILES].map((path) => [
      path,
      ['GET', 'HEAD'],
    ]),
  ),
};

/** Labels of metrics. */
const ROUTES: ReadonlySet<string> = new Set([
  ...Object.keys(ALLOWED),
  ...DIALECTS.flatMap(({ routes }) => routes.map(({ path }) => path)),
]);

const methods: RequestHandler = ({ method, path }, response, next) => {
  const allowed = Object.hasOwn(ALLOWED, path) ? ALLOWED[path] : undefined;
  if (allowed === undefined || allowed.includes(method)) return next();
  refuseMethod(method, response, allowed.join(', '));
};

const notFound: RequestHandler = () => {
  throw new RunError(
    'not_found',
    'no such route; the model answers POST /run, its description is at /openapi.json',
  );
};
