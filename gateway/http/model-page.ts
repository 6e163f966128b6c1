import { type Request, type RequestHandler, Router } from 'express';
import type { DialectHost } from '../../runtime/dialects/host.js';
import { playgroundRoutes } from '../../runtime/wire/playground.js';
import { sendEnvelope, sendJson } from '../../runtime/wire/respond.js';
import { VERSION } from '../package.js';
import { modelOpenApi } from '../reference/model-openapi.js';

/** The gateway's own addresses look like those of models. */
const RESERVED = /\/(?:list|openai)\/[^/]+$/;

/**
 * The page of a model below its address, with what it reads. The page itself is the same for all addresses and needs no key; which
 * models there are is told to those who have one.
 * @param folder holds the files of the page
 */
export function modelPage(
  folder: URL,
  authorized: RequestHandler,
  hostOf: (request: Request) => DialectHost,
): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.use(({ baseUrl }, _response, next) => next(RESERVED.test(baseUrl) ? 'router' : undefined));
  router.use(playgroundRoutes(folder));
  // A model that is not running is started by its first call, so it can always be asked.
  router.get('/status', (_request, response) =>
    sendEnvelope(response, 200, { error: null, output: { state: 'ready', reason: null, progress: null } }),
  );
  router.get('/openapi.json', authorized, (request, response) => {
    const [model] = hostOf(request).models();
    sendJson(response, 200, JSON.stringify(modelOpenApi(model!, VERSION)));
  });
  return router;
}
