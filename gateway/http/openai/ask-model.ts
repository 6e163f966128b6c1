import type { Response } from 'express';
import type { ModelEntry } from '../../catalog/entry.js';
import { callContext } from '../call-context.js';
import { type FieldNames, inCallersWords } from './errors.js';
import { checkRequest, type RunParts } from '../run.js';
import { type ModelServer, withModel } from '../with-model.js';

export interface ModelRequest {
  entry: ModelEntry;
  /** Bodies of POST /run. */
  bodies: readonly Record<string, unknown>[];
  /** How the caller calls the fields of the bodies, where it is not as they do. */
  names: FieldNames;
}

/**
 * Checks the bodies, then leases a server of the model for `use`.
 * @throws RunError for a body that the task does not accept, before any model is started; whatever `withModel` throws
 */
export async function askModel(
  { entry, bodies, names }: ModelRequest,
  response: Response,
  parts: RunParts,
  use: (server: ModelServer) => Promise<void>,
): Promise<void> {
  try {
    for (const body of bodies) checkRequest(entry, body);
    callContext(response).model = entry;
    await withModel(entry, response, parts, use);
  } catch (error) {
    throw inCallersWords(error, names);
  }
}
