import type { Request, RequestHandler, Response } from 'express';
import { RunError } from '../../runtime/core/errors.js';
import { isModelId } from '../../runtime/core/ids.js';
import { readBody } from '../../runtime/tasks/body.js';
import { isPlanned } from '../../runtime/tasks/define.js';
import { TASKS } from '../../runtime/tasks/registry.js';
import { type JsonBodyOptions, readJson } from '../../runtime/wire/json-body.js';
import { gone } from '../../runtime/wire/plumbing.js';
import type { Catalog, ModelEntry } from '../catalog/entry.js';
import { meterOf, type Tier } from '../meters.js';
import type { Lease, Upstream } from '../upstream/upstream.js';
import { forward } from './proxy.js';

export interface RunParts {
  catalog: Catalog;
  upstream: Upstream;
  tiers: readonly Tier[];
  body: JsonBodyOptions;
  /** Longest wait for a model to start. */
  startMs: number;
}

/**
 * POST {org}/{name}: catalogue -> body -> task schema, all before any model is woken -> a server of the model -> its
 * answer, as it comes.
 */
export function runModel(parts: RunParts): RequestHandler {
  return async (request, response) => {
    const entry = entryOf(parts.catalog, request);
    const { json, bytes } = await readJson(request, response, parts.body);
    checkRequest(entry, json);
    await serve(entry, { request, response, bytes }, parts);
  };
}

/** The id is two path segments as they were sent: nothing in it is decoded. */
function entryOf(catalog: Catalog, { baseUrl, originalUrl }: Request): ModelEntry {
  const modelId = originalUrl.split('?')[0]!.slice(baseUrl.length + 1);
  const entry = isModelId(modelId) ? catalog.find(modelId) : undefined;
  if (!entry) throw new RunError('not_found', 'there is no such model; list/models names them');
  return entry;
}

function checkRequest({ modelId, task: id }: ModelEntry, json: unknown): void {
  const task = TASKS[id];
  if (isPlanned(task)) throw new RunError('not_ready', `${modelId}: ${id} is not served by this version`);
  readBody(id, task, json);
}

interface Call {
  request: Request;
  response: Response;
  bytes: Buffer;
}

async function serve(entry: ModelEntry, { request, response, bytes }: Call, parts: RunParts): Promise<void> {
  const signal = gone(response);
  const { url, cold, release } = await acquire(entry, signal, parts);
  const started = performance.now();
  const onHeaders = () => ({
    ...usage(entry, parts.tiers, started),
    ...(cold ? { 'inference-cold-start': 'true' } : {}),
  });
  try {
    await forward(request, response, { url, body: bytes, signal, onHeaders });
  } finally {
    release();
  }
}

/** @throws RunError `not_ready` when the model has not started in time */
async function acquire(
  entry: ModelEntry,
  signal: AbortSignal,
  { upstream, startMs }: RunParts,
): Promise<Lease> {
  const late = new AbortController();
  const why = `${entry.modelId} has not started within ${startMs / 1000} s`;
  const timer = setTimeout(() => late.abort(new RunError('not_ready', why, { retryAfter: 30 })), startMs);
  try {
    return await upstream.acquire(entry, AbortSignal.any([signal, late.signal]));
  } finally {
    // The longest wait is many minutes: a timer left behind by each call would add up.
    clearTimeout(timer);
  }
}

/** What the call cost so far: of a streamed answer, until its first piece. */
function usage(entry: ModelEntry, tiers: readonly Tier[], started: number): Record<string, string> {
  const { meter, meterPrice, perSecond } = meterOf(entry, tiers);
  const seconds = (performance.now() - started) / 1000;
  return {
    'inference-meter': meter,
    'inference-meter-price': meterPrice,
    'inference-time': seconds.toFixed(3),
    'inference-cost': (seconds * perSecond).toFixed(10),
  };
}
