import type { Request } from 'express';
import { RunError } from '../../runtime/core/errors.js';
import { isModelId } from '../../runtime/core/ids.js';
import { base64Of } from '../../runtime/core/media-output.js';
import { DEFAULTS } from '../../runtime/core/limits.js';
import type { AskedModel, DialectHost, ServedModel } from '../../runtime/dialects/host.js';
import type { ModelEntry } from '../catalog/entry.js';
import { bodyFor } from './body.js';
import { callContext } from './call-context.js';
import { requestAnswer, requestStream } from './container-requests.js';
import { checkRequest, type RunParts } from './run-parts.js';
import { type ModelServer, withModel } from './with-model.js';

/** The models of the catalogue, for dialects. @param base path that the routes are mounted on */
export function catalogHost(base: string, parts: RunParts): DialectHost {
  const { catalog } = parts;
  return {
    ...hostOf(base, parts),
    models: () => catalog.list(),
    find: (name) => (name !== undefined && isModelId(name) ? catalog.find(name) : undefined),
  };
}

/** One model of the catalogue, below its own address: whatever a body names as the model, it is this one. */
export function modelHost(entry: ModelEntry, parts: RunParts): DialectHost {
  return { ...hostOf(`/models/v2/${entry.modelId}`, parts), models: () => [entry], find: () => entry };
}

/**
 * The host of a request below a model's address.
 * @throws RunError 404 for an unknown model
 */
export function hostAt({ baseUrl }: Request, parts: RunParts): DialectHost {
  const modelId = baseUrl.split('/').slice(-2).join('/');
  const entry = isModelId(modelId) ? parts.catalog.find(modelId) : undefined;
  if (!entry) throw new RunError('not_found', 'model: there is no such model; list/models names them');
  return modelHost(entry, parts);
}

type SharedParts = Pick<DialectHost, 'base' | 'ready' | 'runPath' | 'bodyOptions' | 'withModel' | 'count'>;

function hostOf(base: string, parts: RunParts): SharedParts {
  return {
    base,
    ready: () => true,
    runPath: ({ modelId }) => `/models/v2/${modelId}`,
    bodyOptions(tasks, batch = false) {
      const { maxBytes = batch ? DEFAULTS.maxBatchBodyBytes : undefined, ...rest } = parts.body;
      return bodyFor(tasks, { ...rest, maxBytes });
    },
    async withModel({ model, bodies, files }, response, use) {
      const entry = entryOf(model, parts);
      for (const body of bodies) checkRequest(entry, body);
      callContext(response).model = entry;
      await withModel(entry, response, parts, (server) => use(askedOf(server, files)));
    },
    count(response, tokens) {
      callContext(response).tokens = tokens;
    },
  };
}

/** The catalogue may have changed while the body came. */
function entryOf({ modelId }: ServedModel, { catalog }: RunParts): ModelEntry {
  const entry = catalog.find(modelId);
  if (!entry) throw new RunError('not_found', 'model: it is not in the catalogue any more');
  return entry;
}

type Files = ReadonlyMap<string, Uint8Array> | undefined;

function askedOf(server: ModelServer, files: Files): AskedModel {
  return {
    signal: server.signal,
    ask: (body, signal) => requestAnswer(server, { body: withFiles(body, files), signal }),
    stream: (body) => requestStream(server, { body: withFiles(body, files), signal: server.signal }),
    headers: server.headers,
  };
}

/** Containers take files as Base64. */
function withFiles(body: Record<string, unknown>, files: Files): Record<string, unknown> {
  const file = files?.get(body['base64'] as string);
  return file ? { ...body, base64: base64Of(file) } : body;
}
