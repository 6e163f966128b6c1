import * as z from 'zod';
import type { AnyTask } from './define.js';

const known = new WeakMap<AnyTask, ReadonlySet<string>>();

/** Names that a task takes in `params`, as its schema has them. */
export function paramNames(task: AnyTask): ReadonlySet<string> {
  const names = known.get(task) ?? readNames(task.input);
  known.set(task, names);
  return names;
}

interface ObjectSchema {
  properties?: Record<string, ObjectSchema>;
}

function readNames(input: z.ZodType): ReadonlySet<string> {
  const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as ObjectSchema;
  return new Set(Object.keys(schema.properties?.['params']?.properties ?? {}));
}
