import type { Request, RequestHandler } from 'express';
import { RunError } from '../../runtime/core/errors.js';
import { isModelId } from '../../runtime/core/ids.js';
import {
  asksInference,
  fileRequest,
  isFile,
  readHfJson,
  takesFiles,
} from '../../runtime/dialects/huggingface/read.js';
import { answerInference } from '../../runtime/dialects/huggingface/run.js';
import { checkJsonBody, parseJsonBody, readRawBody, requireJsonType } from '../../runtime/wire/json-body.js';
import type { Catalog, ModelEntry } from '../catalog/entry.js';
import { bodyFor } from './body.js';
import { callContext } from './call-context.js';
import { modelHost } from './dialect-host.js';
import { forward } from './proxy.js';
import { checkRequest, type RunParts } from './run-parts.js';
import { withModel } from './with-model.js';

/**
 * POST {org}/{name}: finds the model, checks the body against the task's schema, and only then takes a server of the
 * model and streams its answer.
 */
export function runModel(parts: RunParts): RequestHandler {
  return async (request, response) => {
    const entry = entryOf(parts.catalog, request);
    callContext(response).model = entry;
    const options = bodyFor([entry.task], parts.body);
    const call = { request, response, host: modelHost(entry, parts) };
    const type = request.headers['content-type'];
    if (!takesFiles(entry.task)) requireJsonType(type);
    const raw = await readRawBody(request, response, options);
    if (isFile(type, raw.bytes, entry)) return answerInference(call, entry, fileRequest(raw.bytes));
    requireJsonType(type);
    let isInference = false;
    const check = (json: unknown) => {
      isInference = asksInference(json);
      if (!isInference) checkRequest(entry, json);
    };
    const body = await checkJsonBody(raw, response, { ...options, check });
    if (isInference) {
      const { json } = await parseJsonBody(raw, response, options);
      return answerInference(call, entry, readHfJson(json));
    }
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
  const modelId = target.slice(baseUrl.length + 1).replace(/\/$/, '');
  const entry = isModelId(modelId) ? catalog.find(modelId) : undefined;
  if (!entry) throw new RunError('not_found', 'there is no such model; list/models names them');
  return entry;
}
