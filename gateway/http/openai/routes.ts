import { type RequestHandler, Router } from 'express';
import { RunError } from '../../../runtime/core/errors.js';
import type { Logger } from '../../../runtime/log.js';
import { errorHandler } from '../../../runtime/wire/middleware.js';
import { allowOnly } from '../allow-only.js';
import type { RunParts } from '../run.js';
import { textEndpoint } from './text-endpoint.js';
import { readChat } from './chat.js';
import { readCompletion } from './completions.js';
import { embed } from './embeddings.js';
import { sendOpenAiError } from './errors.js';
import { listOpenAiModels, showModel } from './models.js';

/**
 * OpenAI's interface to the models of the catalogue: bodies, answers, streams and errors have OpenAI's shapes.
 * @param authorize requires a key and counts the call
 */
export function openAiRoutes(authorize: RequestHandler, parts: RunParts & { logger: Logger }): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.use(authorize);
  const post = (path: string, handler: RequestHandler) =>
    router.route(path).post(handler).all(allowOnly('POST'));
  post('/v1/chat/completions', textEndpoint('/chat/completions', readChat, parts));
  post('/v1/completions', textEndpoint('/completions', readCompletion, parts));
  post('/v1/embeddings', embed(parts));
  const { catalog } = parts;
  router.route('/v1/models').get(listOpenAiModels(catalog)).all(allowOnly('GET'));
  router.use('/v1/models', (request, response, next) =>
    (request.method === 'GET' ? showModel(catalog) : allowOnly('GET'))(request, response, next),
  );
  router.use(notFound, errorHandler(parts.logger, sendOpenAiError));
  return router;
}

const notFound: RequestHandler = () => {
  throw new RunError(
    'not_found',
    'no such route; there are v1/models, v1/chat/completions, v1/completions and v1/embeddings',
  );
};
