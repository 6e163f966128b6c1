/** Schemas of all kinds that are honoured, and those that are refused with the keyword that is. */

type Schema = Record<string, unknown>;

const object = (properties: Schema, more: Schema = {}): Schema => ({
  ...{ type: 'object', properties, required: Object.keys(properties), additionalProperties: false },
  ...more,
});
const text = (more: Schema) => object({ a: { type: 'string', ...more } });
const whole = (more: Schema) => object({ a: { type: 'integer', ...more } });
const number = (more: Schema) => object({ a: { type: 'number', ...more } });
const list = (more: Schema) => object({ a: { type: 'array', items: { type: 'boolean' }, ...more } });

const branch = {
  type: 'object',
  properties: { value: { enum: [1, 2] }, next: { anyOf: [{ $ref: '#/$defs/branch' }, { type: 'null' }] } },
  required: ['value', 'next'],
  additionalProperties: false,
};

export const HONOURED: Schema[] = [
  object({ a: { enum: ['x', 'é"\\', 'a\nb'] } }),
  object({ a: { enum: [1, 2.5, null, true, ['x'], { b: 1 }] } }),
  object({ a: { const: { b: ['c'] } } }),
  object({ a: { const: null } }),
  object({ a: { anyOf: [{ type: 'boolean' }, { type: 'integer', minimum: 10, maximum: 20 }] } }),
  object({ a: { oneOf: [{ const: 1 }, { const: 'one' }] } }),
  { allOf: [object({ a: { type: 'integer' } }, { additionalProperties: true }), { required: ['a'] }] },
  object({ a: { allOf: [{ type: 'integer', minimum: 3 }, { maximum: 6 }] } }),
  { $ref: '#/$defs/one', $defs: { one: object({ a: { type: 'boolean' } }) } },
  object({ a: { $ref: '#/definitions/one' } }, { definitions: { one: { enum: ['p', 'q'] } } }),
  { $ref: '#/$defs/branch', $defs: { branch } },
  list({ minItems: 2, maxItems: 3 }),
  list({ minItems: 1 }),
  list({ maxItems: 2 }),
  list({ items: false, prefixItems: [{ const: 1 }, { type: 'boolean' }], minItems: 2 }),
  list({ items: { type: 'array', items: { enum: ['n'] }, maxItems: 1 }, maxItems: 2 }),
  text({}),
  text({ pattern: '^[a-c]{2,4}$' }),
  text({ pattern: '[0-9]{3}' }),
  text({ pattern: '^(?:yes|no)$' }),
  text({ pattern: '^[a-z]+$', minLength: 2, maxLength: 5 }),
  text({ minLength: 3, maxLength: 9 }),
  text({ maxLength: 0 }),
  text({ format: 'date-time' }),
  text({ format: 'date' }),
  text({ format: 'time' }),
  text({ format: 'uuid' }),
  text({ format: 'date', pattern: '^20[0-9]{2}-02' }),
  text({ format: 'ipv4' }),
  whole({}),
  whole({ minimum: 0, maximum: 120 }),
  whole({ exclusiveMinimum: -5, exclusiveMaximum: 5 }),
  whole({ multipleOf: 7, minimum: 0, maximum: 700 }),
  number({ minimum: 0, maximum: 1 }),
  number({ exclusiveMinimum: 2, exclusiveMaximum: 3 }),
  number({}),
  object({ a: { type: ['boolean', 'null'] } }),
  { ...object({ a: { type: 'boolean' } }), additionalProperties: { type: 'integer', maximum: 9 } },
  {
    ...{ type: 'object', patternProperties: { '^x[a-z]$': { type: 'boolean' } } },
    additionalProperties: false,
  },
  { type: 'object', additionalProperties: { type: 'null' }, minProperties: 1, maxProperties: 2 },
  {
    type: 'object',
    properties: { a: { type: 'boolean' }, b: { type: 'boolean' } },
    additionalProperties: false,
  },
  object({ 'é "key"': { type: 'boolean' }, '': { type: 'null' } }),
  object({ a: object({ b: object({ c: { type: 'integer', minimum: 1, maximum: 3 } }) }) }),
  { type: 'array', items: object({ a: { enum: ['u', 'v'] } }), minItems: 1, maxItems: 2 },
];

export const REFUSED: [Schema, string][] = [
  [object({ a: { not: { type: 'string' } } }), 'not'],
  [object({ a: { type: 'integer' } }, { if: {}, else: {} }), 'if'],
  [list({ uniqueItems: true }), 'uniqueItems'],
  [text({ format: 'colour' }), 'colour'],
];
