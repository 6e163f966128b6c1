import type { Request, Response } from 'express';
import type * as z from 'zod';
import { RunError } from '../../runtime/core/errors.js';
import { createByteBudget } from '../../runtime/wire/byte-budget.js';
import { readJsonBody } from '../../runtime/wire/json-body.js';

/** Reads a body by its schema. @throws RunError that names the field */
export type ReadBody = <T extends z.ZodType>(
  request: Request,
  response: Response,
  schema: T,
) => Promise<z.output<T>>;

const MAX_BYTES = 2 ** 14;

/** Reader of small bodies, within a budget of its own. */
export function createBodyReader(): ReadBody {
  const budget = createByteBudget(64 * MAX_BYTES);
  return async (request, response, schema) => {
    const { json } = await readJsonBody(request, response, { maxBytes: MAX_BYTES, maxValues: 100, budget });
    const parsed = schema.safeParse(json);
    if (parsed.success) return parsed.data;
    const { path, message } = parsed.error.issues[0]!;
    throw new RunError('invalid_input', `${path.join('.') || 'body'}: ${message}`);
  };
}
