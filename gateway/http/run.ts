import type { Request, RequestHandler } from 'express';
import { RunError } from '../../runtime/core/errors.js';
import { isModelId } from '../../runtime/core/ids.js';
import { readBody } from '../../runtime/tasks/body.js';
import { TASKS } from '../../runtime/tasks/registry.js';
import { readCheckedJsonBody } from '../../runtime/wire/json-body.js';
import type { Catalog, ModelEntry } from '../catalog/entry.js';
import { type BodyRules, bodyFor } from './body.js';
import { callContext } from './call-context.js';
import { forward } from './proxy.js';
import { type ModelParts, withModel } from './with-model.js';

export interface RunParts extends ModelParts {
  catalog: Catalog;
  body: BodyRules;
}

/**
 * POST {org}/{name}: finds the model, checks the body against the task's schema, and only then takes a server of the
 * model and streams its answer.
 */
export function runModel(parts: RunParts): RequestHandler {
  return async (request, response) => {
    const entry = entryOf(parts.catalog, request);
    callContext(response).model = entry;
    const body = await readCheckedJsonBody(request, response, {
      ...bodyFor([entry.task], parts.body),
      check: (json) => checkRequest(entry, json),
    });
    await withModel(entry, response, parts, ({ headers, ...server }) =>
      forward(request, response, { ...server, body, onHeaders: headers }),
    );
  };
}

/** Proxies may send an absolute URL instead of a path. */
const ORIGIN = /^https?:\/\/[^/?]*/i;

/** The id is two path segments exactly as they were sent, not decoded. */
function entryOf(catalog: Catalog, { baseUrl, originalUrl }: Request): ModelEntry {
  const target = originalUrl.replace(ORIGIN, '').split('?')[0]!;
  const modelId = target.slice(baseUrl.length + 1);
  const entry = isModelId(modelId) ? catalog.find(modelId) : undefined;
  if (!entry) throw new RunError('not_found', 'there is no such model; list/models names them');
  return entry;
}

/** @throws RunError for a body that the task does not accept; called before any model is started */
export function checkRequest({ task: id }: ModelEntry, json: unknown): void {
  const task = TASKS[id];
  readBody(id, task, json);
}
