import { type Request, type RequestHandler, Router } from 'express';
import { RunError } from '../../runtime/core/errors.js';
import { abortControllerOf } from '../../runtime/wire/middleware.js';
import { sendEnvelope } from '../../runtime/wire/respond.js';
import type { Catalog, ModelEntry } from '../catalog/entry.js';
import { GatewayError } from '../errors.js';
import { acquire } from '../http/with-model.js';
import type { Upstream } from '../upstream/upstream.js';
import { namedAction } from './audit.js';
import { whyUnmanaged } from './read-state.js';

export interface ActionParts {
  catalog: Catalog;
  upstream: Upstream;
  /** Longest wait for a model to start. */
  startMs: number;
}

/** What an operator does to models: warm up, stop, read the catalogue again. */
export function actionRoutes(parts: ActionParts): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.post('/models/:org/:name/warm', namedAction('warm-up'), warm(parts));
  router.post('/models/:org/:name/stop', namedAction('stop'), stop(parts));
  router.post('/catalog/reload', namedAction('reload'), reload(parts));
  return router;
}

/** Answers when a server of the model is ready. A start goes on when the operator has left. */
function warm(parts: ActionParts): RequestHandler {
  return async ({ params }, response) => {
    const entry = managedEntry(params, parts);
    const { cold, release } = await acquire(entry, abortControllerOf(response), parts);
    release();
    sendEnvelope(response, 200, { error: null, output: { started: cold } });
  };
}

function stop(parts: ActionParts): RequestHandler {
  return ({ params }, response) => {
    const { modelId } = managedEntry(params, parts);
    const stopping = parts.upstream.stop!(modelId);
    sendEnvelope(response, 200, { error: null, output: { stopping } });
  };
}

/** @throws RunError `conflict` with the reason for a model whose servers are not run here */
function managedEntry(params: Request['params'], { catalog, upstream }: ActionParts): ModelEntry {
  const entry = catalog.find([params['org'], params['name']].join('/'));
  if (!entry) throw new RunError('not_found', 'the catalogue has no such model');
  const problem = whyUnmanaged(entry, upstream);
  if (problem !== undefined) throw new RunError('conflict', problem);
  return entry;
}

function reload({ catalog }: ActionParts): RequestHandler {
  return async (_request, response) => {
    if (!catalog.reload)
      throw new RunError(
        'conflict',
        'the catalogue of this gateway never changes: it has no file (--catalog)',
      );
    await catalog.reload().catch((error: Error) => {
      throw error instanceof GatewayError
        ? new RunError('conflict', `${error.message}; the last one that was right stays`)
        : error;
    });
    sendEnvelope(response, 200, { error: null, output: { models: catalog.list().length } });
  };
}
