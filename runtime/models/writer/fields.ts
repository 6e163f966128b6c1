import type * as z from 'zod';

/** The fields of a configuration that a schema reads: by name, all below it (`true`), or those of an object. */
export type Fields = { readonly [name: string]: Fields | true };

type Schema = z.core.$ZodType;

/** Of schemas that choose another one by the type that a part of a configuration names. */
interface Choice {
  schemaOf(type: string): Schema | undefined;
  /** Type of a part that names none. */
  usual: string;
}

const choices = new WeakMap<Schema, Choice>();

/** Tells `fieldsOf` how a schema of a part goes on; without it all fields of the part count as read. */
export function markChoice<S extends Schema>(schema: S, choice: Choice): S {
  choices.set(schema, choice);
  return schema;
}

/**
 * What a schema reads of a value, by the schema's shape: parts of a configuration are followed by the type that they name.
 * @param value what is parsed; decides between alternatives
 */
export function fieldsOf(schema: Schema, value: unknown): Fields | true {
  const choice = choices.get(schema);
  if (choice) {
    const type = fieldOf(value, 'model_type') ?? choice.usual;
    const chosen = typeof type === 'string' ? choice.schemaOf(type) : undefined;
    return chosen ? fieldsOf(chosen, value) : true;
  }
  const { def } = schema._zod as unknown as { def: Definition };
  if (def.type === 'object') return objectFields(def.shape, value);
  if (def.type === 'union') return unionFields(def.options, value);
  if (def.type === 'intersection') return bothFields(fieldsOf(def.left, value), fieldsOf(def.right, value));
  if (def.type === 'pipe') return fieldsOf(isOpaque(def.in) ? def.out : def.in, value);
  return 'innerType' in def && def.innerType ? fieldsOf(def.innerType, value) : true;
}

type Definition =
  | { type: 'object'; shape: Readonly<Record<string, Schema>> }
  | { type: 'union'; options: readonly Schema[] }
  | { type: 'intersection'; left: Schema; right: Schema }
  | { type: 'pipe'; in: Schema; out: Schema }
  | {
      type: 'default' | 'prefault' | 'optional' | 'nullable' | 'readonly' | 'nonoptional';
      innerType: Schema;
    };

const bothFields = (left: Fields | true, right: Fields | true): Fields | true =>
  left === true || right === true ? true : { ...left, ...right };

/** What z.preprocess puts before a schema. */
const isOpaque = (schema: Schema): boolean => schema._zod.def.type === 'transform';

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

function objectFields(shape: Readonly<Record<string, Schema>>, value: unknown): Fields {
  return Object.fromEntries(
    Object.entries(shape).map(([name, field]) => [name, fieldsOf(field, fieldOf(value, name))]),
  );
}

/** Of alternatives the one that takes the value's type, else all. */
function unionFields(options: readonly Schema[], value: unknown): Fields | true {
  const type = fieldOf(value, 'model_type');
  const objects = options.map((option) => fieldsOf(option, value));
  const found = objects.filter((fields) => fields !== true);
  const own = options.findIndex((option) => takesType(option, type));
  if (own >= 0 && typeof type === 'string') return objects[own]!;
  return found.length === 0 ? true : Object.assign({}, ...found);
}

function takesType(option: Schema, type: unknown): boolean {
  const { def } = option._zod as unknown as { def: Definition };
  if (def.type === 'pipe') return takesType(def.in, type);
  if (def.type !== 'object') return false;
  const values = def.shape['model_type']?._zod.values;
  return values?.has(type as string) ?? false;
}
