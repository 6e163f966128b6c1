import { RunError } from '../../../core/errors.js';

/** Levels of objects and lists. */
const MAX_DEPTH = 64;
/** Texts and other values of all `enum`s together. */
const MAX_ENUM_VALUES = 2000;
/** Objects: 2,000 alternatives took more than 4 seconds. */
const MAX_OBJECTS = 500;

/**
 * Bounds the work that a JSON schema makes.
 * @param place what an error begins with
 * @throws RunError 400 for one that is too large, and for options of the library that compiles it
 */
export function checkSchema(schema: unknown, place: string): void {
  const seen = { objects: 0, enumValues: 0 };
  const refuse = (message: string) => new RunError('invalid_input', `${place}: ${message}`);
  const visit = (value: unknown, depth: number) => {
    if (typeof value !== 'object' || value === null) return;
    if (depth > MAX_DEPTH) throw refuse(`is nested deeper than ${MAX_DEPTH} levels`);
    if (!Array.isArray(value)) {
      if ('x-guidance' in value) throw refuse('x-guidance is not supported');
      seen.objects += 1;
      const { enum: values } = value as { enum?: unknown };
      if (Array.isArray(values)) seen.enumValues += values.length;
    }
    if (seen.objects > MAX_OBJECTS) throw refuse(`has more than ${MAX_OBJECTS} objects`);
    if (seen.enumValues > MAX_ENUM_VALUES) throw refuse(`has more than ${MAX_ENUM_VALUES} values of enum`);
    for (const inner of Object.values(value)) visit(inner, depth + 1);
  };
  visit(schema, 0);
}
