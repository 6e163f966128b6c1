import type { z } from 'zod';
import type { TaskId } from '../core/task-ids.js';
import { readJsonBody } from '../wire/json-body.js';
import type { DialectCall } from './dialect.js';
import { readFields, tellHints } from './fields.js';

export interface ReadOptions {
  /** Tasks whose limits the body has. */
  tasks: readonly TaskId[];
  /** The body holds the inputs of many requests. */
  batch?: boolean;
  /** Tell numbers apart as Python does, where chat templates see them. */
  pythonNumbers?: boolean;
}

/**
 * Reads a JSON body by its schema, and names its hints in the answer's headers.
 * @throws RunError 400 that names the field, 413 or 415
 */
export async function readRequest<S extends z.ZodObject>(
  { request, response, host }: DialectCall,
  schema: S,
  { tasks, batch = false, pythonNumbers = false }: ReadOptions,
): Promise<z.output<S>> {
  const options = { ...host.bodyOptions(tasks, batch), pythonNumbers };
  const { json } = await readJsonBody(request, response, options);
  const given = readFields(schema, json);
  tellHints(response, schema.shape, given);
  return given;
}
