import { RunError } from '../../../core/errors.js';
import type { ToolFunction } from '../../../core/tools.js';
import { objectOf } from '../formats/references.js';

type Schema = Record<string, unknown>;

/** A tool of a request, and where it says its schema. */
export interface GrammarTool {
  name: string;
  schema: Schema;
  /** True: what can't be honoured is refused. */
  strict: boolean;
  place: string;
}

/** What a tool that says nothing takes: nothing. */
const NOTHING = { type: 'object', properties: {}, additionalProperties: false };

/** Refuses a schema that would be too much work. @throws RunError 400 */
export type CheckSchema = (schema: unknown, place: string) => void;

/** @throws RunError 400 for a strict schema that is too much work, or of something else than an object */
export function grammarTool({ name, parameters, strict }: ToolFunction, check: CheckSchema): GrammarTool {
  const place = `params.tools: ${name}.parameters`;
  const tool = { name, strict, place };
  const schema = parameters ?? NOTHING;
  const { type } = schema;
  if (strict) check(schema, place);
  if (strict && type !== undefined && type !== 'object')
    throw new RunError('invalid_input', `${place}.type: must be object`);
  return strict || passes(check, schema)
    ? { ...tool, schema: { ...schema, type: 'object' } }
    : { ...tool, schema: { type: 'object' } };
}

function passes(check: CheckSchema, schema: Schema): boolean {
  try {
    check(schema, '');
    return true;
  } catch {
    return false;
  }
}

/** What a schema says beside what it allows. */
const NOTES: ReadonlySet<string> = new Set([
  ...['$schema', '$id', '$comment', '$defs', 'definitions', 'title', 'description', 'examples'],
  ...['default', 'deprecated', 'readOnly', 'writeOnly', 'strict'],
]);

/** Keywords of a schema that say what it allows, but for these. */
export const keywordsBut = (schema: Schema, known: readonly string[]): string[] =>
  Object.keys(schema).filter((key) => !NOTES.has(key) && !known.includes(key));

/** Under which name a property's schema has the one that it is from. */
const ROOT = 'all-arguments';

/** A property's schema by itself, with what it may refer to. */
export function alone(schema: unknown, root: Schema): Schema {
  const own = typeof schema === 'boolean' ? {} : objectOf(schema);
  const { $defs, definitions } = root;
  const all = {
    ...own,
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
  let used = false;
  const moved = (from: unknown) =>
    JSON.parse(
      JSON.stringify(from, (key, value: unknown) => {
        if (key !== '$ref' || typeof value !== 'string' || !/^#(?!\/(?:\$defs|definitions)\/)/.test(value))
          return value;
        used = true;
        return `#/$defs/${ROOT}${value.slice(1)}`;
      }),
    ) as Schema;
  const found = moved(all);
  return used ? { ...found, $defs: { ...objectOf(found['$defs']), [ROOT]: moved(root) } } : found;
}

export interface Property {
  key: string;
  schema: unknown;
  required: boolean;
}

/**
 * Properties that are written one by one, in the schema's order.
 * @throws RunError 400 for what a strict schema says beyond them
 */
export function propertiesOf({ schema, strict, place }: GrammarTool): Property[] {
  const properties = objectOf(schema['properties']);
  const required = Array.isArray(schema['required']) ? schema['required'].map(String) : [];
  const known = ['type', 'properties', 'required', 'additionalProperties'];
  const [other] = keywordsBut(schema, known);
  if (strict && other !== undefined) throw new RunError('invalid_input', `${place}: ${other} ${NOT_HERE}`);
  const declared = Object.keys(properties);
  const more = required.filter((key) => !declared.includes(key));
  const keys = [...declared, ...more];
  const unwritable = keys.find((key) => !WRITABLE.test(key));
  if (strict && unwritable !== undefined)
    throw new RunError('invalid_input', `${place}: the property ${JSON.stringify(unwritable)} ${NOT_HERE}`);
  return keys
    .filter((key) => WRITABLE.test(key))
    .map((key) => {
      const own = Object.hasOwn(properties, key) ? properties[key] : schema['additionalProperties'];
      return { key, schema: own ?? {}, required: required.includes(key) };
    });
}

/** Names of properties that stand without quotes. */
const WRITABLE = /^[\w.-]{1,200}$/;

/** Why a keyword is refused that other models take. */
export const NOT_HERE = 'is not supported where a model writes arguments one by one, as this one does';
