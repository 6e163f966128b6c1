import type { Response } from 'express';
import type { ModelEntry } from '../../catalog/entry.js';
import { callContext } from '../call-context.js';
import { checkRequest, type RunParts } from '../run.js';
import { type ModelServer, withModel } from '../with-model.js';

export interface ModelRequest {
  entry: ModelEntry;
  /** Of POST /run. */
  bodies: readonly Record<string, unknown>[];
}

/**
 * Holds a server of the model while `use` asks it.
 * @throws RunError for a body that the task doesn't take, before anything is woken; what `withModel` throws
 */
export async function askModel(
  { entry, bodies }: ModelRequest,
  response: Response,
  parts: RunParts,
  use: (server: ModelServer) => Promise<void>,
): Promise<void> {
  for (const body of bodies) checkRequest(entry, body);
  callContext(response).model = entry;
  await withModel(entry, response, parts, use);
}
