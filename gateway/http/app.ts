import type { RequestListener } from 'node:http';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { RunError } from '../../runtime/core/errors.js';
import type { Logger } from '../../runtime/log.js';
import { observeResponses } from '../../runtime/wire/observe-responses.js';
import { type Dialect, dialectRouter } from '../../runtime/dialects/dialect.js';
import { DIALECTS } from '../../runtime/dialects/registry.js';
import { openAi } from '../../runtime/dialects/openai/routes.js';
import { bareApplication } from '../../runtime/wire/application.js';
import { withCors } from '../../runtime/wire/cors.js';
import { routeDirectly } from '../../runtime/wire/direct-route.js';
import { assignRequestId, errorHandler, sendInvalidAddress } from '../../runtime/wire/middleware.js';
import { spanOf, traceRequests } from '../../runtime/wire/trace-requests.js';
import { passOn, type Tracer } from '../../runtime/tracing/tracer.js';
import { spanEndOf } from '../records/span-end.js';
import { sendEnvelope, sendJson } from '../../runtime/wire/respond.js';
import { VERSION } from '../package.js';
import { modelPage } from './model-page.js';
import type { Keys } from '../keys/key-store.js';
import type { RateLimits } from '../limits/limits.js';
import { type FinishedCall, finishedCall } from '../records/finished-call.js';
import { requireKey } from './require-key.js';
import { type ContainerParts, containerRoutes } from './container.js';
import { listModels, listTasks } from './list.js';
import { allowOnly } from './allow-only.js';
import { catalogHost, hostAt } from './dialect-host.js';
import { referenceRoutes } from './reference.js';
import { runModel } from './run.js';
import type { RunParts } from './run-parts.js';

export interface AppParts extends RunParts {
  keys: Keys;
  limits: RateLimits;
  logger: Logger;
  /** Origins of pages that may call from a browser (--allow-origins); none if absent. */
  origins?: readonly string[] | undefined;
  /** Folder with the files of the pages of models; no pages if absent. */
  playground?: URL | undefined;
  /** Follows the traces of callers; records nothing if absent. */
  tracer?: Tracer | undefined;
  /** Called once for every call that has ended, successful or not. */
  onCall(call: FinishedCall): void;
  /** Routes for containers; left out when absent. */
  containers?: { limits: RateLimits } & Omit<ContainerParts, 'authorized'>;
}

/** Base path of the routes for containers. */
export const CONTAINERS = '/container/v1';

/** Base path of the hosted interface. */
export const BASE = '/models/v2';

/** Paths of models: all but the gateway's own. An organisation can't be called `list` or `openai`. */
const MODEL = new RegExp(`^${BASE}/(?!(?:list|openai)/)[^/?]+/[^/?]+(?:\\?|$)`);

/** Builds the application of the hosted interface. The caller makes it listen. */
export function createGatewayApp(parts: AppParts): RequestListener {
  const { catalog, tiers, keys, limits, logger, onCall } = parts;
  const app = bareApplication();
  const observed = [
    assignRequestId,
    observeResponses(new Set(), (answer, response) => {
      const call = finishedCall(answer, response);
      spanOf(response)?.end(spanEndOf(call));
      onCall(call);
    }),
  ];
  app.use(...observed);
  app.route('/livez').get(sendText('alive')).all(allowOnly('GET'));
  app.route('/health').get(sendText('ready')).all(allowOnly('GET'));
  app.route('/version').get(sendVersion).all(allowOnly('GET'));
  app.use(referenceRoutes());
  const models = Router({ caseSensitive: true, strict: true });
  const authorized = requireKey(keys, (key) => limits.enter(key.id, key.limits));
  // First, because its errors have another shape.
  const host = catalogHost(`${BASE}/openai`, parts);
  models.use('/openai', dialectRouter(openAi, { hostOf: () => host, authorize: authorized, logger }));
  const hostOf = (request: Request) => hostAt(request, parts);
  if (parts.playground) models.use('/:org/:name', modelPage(parts.playground, authorized, hostOf));
  for (const dialect of DIALECTS.map(withoutRoot))
    models.use('/:org/:name', dialectRouter(dialect, { hostOf, authorize: authorized, logger }));
  models.use(authorized);
  models.route('/list/models').get(listModels(catalog, tiers)).all(allowOnly('GET'));
  models.route('/list/tasks').get(listTasks).all(allowOnly('GET'));
  models.use('/list', notFound);
  const run = runModel(parts);
  models.route('/{*model}').post(run).all(allowOnly('POST'));
  app.use(BASE, models);
  const all = catalogHost('', parts);
  for (const dialect of DIALECTS.filter(({ oneModel }) => !oneModel))
    app.use(dialectRouter(dialect, { hostOf: () => all, authorize: authorized, logger }));
  const { containers } = parts;
  if (containers) {
    // Reports of containers are no calls to models: the limits of a single key are not for them.
    const known = requireKey(keys, (key) => containers.limits.enter(key.id));
    app.use(CONTAINERS, containerRoutes({ ...containers, authorized: known }));
  }
  const handleError = errorHandler(logger);
  app.use(notFound, handleError);
  const routed = routeDirectly({
    matches: ({ method, url }) => method === 'POST' && MODEL.test(url!),
    ...{ baseUrl: BASE, onError: handleError },
    handlers: [...observed, authorized, run],
    fallback: (request, response) =>
      app(request as Request, response as Response, () => sendInvalidAddress(response as Response)),
  });
  const traced = traceRequests(parts.tracer ?? passOn, routed);
  return withCors(traced, { origins: parts.origins ?? [], setting: '--allow-origins ' });
}

function sendText(output: string): RequestHandler {
  return (_request, response) => sendEnvelope(response, 200, { error: null, output });
}

const sendVersion: RequestHandler = (_request, response) =>
  sendJson(response, 200, JSON.stringify({ version: VERSION }));

/** The address of a model itself is answered by `runModel`. */
function withoutRoot(dialect: Dialect): Dialect {
  return { ...dialect, routes: dialect.routes.filter(({ path }) => path !== '/') };
}

const notFound: RequestHandler = () => {
  throw new RunError('not_found', `no such route; models answer POST ${BASE}/{org}/{name}`);
};
