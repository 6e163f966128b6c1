import * as z from 'zod';
import type { Schema } from './document.js';

interface Read {
  const?: unknown;
  enum?: unknown[];
  default?: unknown;
  examples?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  type?: string | string[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minItems?: number;
  items?: Schema | boolean;
  prefixItems?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  minLength?: number;
}

/** A value that the schema takes: its own example, else one inside of its bounds. Null only where nothing else is taken. */
export function exampleOf(schema: Schema): unknown {
  const read = schema as Read;
  const own = read.examples?.[0] ?? read.const ?? read.enum?.[0];
  if (own !== undefined) return own;
  const branches = read.anyOf ?? read.oneOf;
  if (branches) return exampleOf(branches.find((branch) => branch['type'] !== 'null') ?? {});
  const type = [read.type ?? 'string'].flat().find((name) => name !== 'null') ?? 'null';
  return BY_TYPE[type]?.(read) ?? null;
}

const BY_TYPE: Record<string, (schema: Read) => unknown> = {
  boolean: () => true,
  string: ({ minLength = 1 }) => 'a'.repeat(Math.max(1, minLength)),
  integer: (schema) => Math.ceil(numberOf(schema)),
  number: numberOf,
  array: ({ items, prefixItems, minItems = 1 }) => {
    if (prefixItems) return prefixItems.map(exampleOf);
    const item = exampleOf(typeof items === 'object' ? items : {});
    return new Array<unknown>(Math.max(1, minItems)).fill(item);
  },
  object: ({ properties = {}, required = [] }) =>
    Object.fromEntries(required.map((name) => [name, exampleOf(properties[name] ?? {})])),
};

/** 1 where that is allowed, else between the bounds. */
function numberOf({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Read): number {
  const low = minimum ?? exclusiveMinimum ?? -Infinity;
  const high = maximum ?? exclusiveMaximum ?? Infinity;
  if (inside(1, { minimum, maximum, exclusiveMinimum, exclusiveMaximum })) return 1;
  if (Number.isFinite(low) && Number.isFinite(high)) return (low + high) / 2;
  return Number.isFinite(low) ? low + 1 : high - 1;
}

function inside(
  value: number,
  bounds: Pick<Read, 'minimum' | 'maximum' | 'exclusiveMinimum' | 'exclusiveMaximum'>,
) {
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum, exclusiveMaximum } = bounds;
  const above = exclusiveMinimum === undefined || value > exclusiveMinimum;
  const below = exclusiveMaximum === undefined || value < exclusiveMaximum;
  return value >= minimum && value <= maximum && above && below;
}

/** Values that a schema may refuse: of every type, and beyond every bound. */
const CANDIDATES: readonly unknown[] = ['~', 1.5, -1e15, 1e308, true, [[]], [{}], { '~': 1 }, {}, '', 0];

/** Values that the schema refuses, at most two of them, or none for a schema that takes everything. */
export function refusedBy(schema: Schema): unknown[] {
  const parsed = z.fromJSONSchema(schema);
  return CANDIDATES.filter((value) => !parsed.safeParse(value).success).slice(0, 2);
}
