type Schema = Record<string, unknown>;

const MOST_REFERENCES = 16;

/** The schema that a reference within its document means; one that leads out of it stays. */
export function resolved(given: unknown, root: Schema): Schema {
  let schema = objectOf(given);
  for (let i = 0; i < MOST_REFERENCES && typeof schema['$ref'] === 'string'; i++) {
    const { $ref, ...rest } = schema;
    const [start, ...path] = $ref.split('/');
    if (start !== '#') return schema;
    schema = { ...objectOf(path.reduce(memberOf, root)), ...rest };
  }
  return schema;
}

function memberOf(value: unknown, key: string): unknown {
  const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
  return Object.hasOwn(objectOf(value), name) ? objectOf(value)[name] : undefined;
}

export const objectOf = (value: unknown): Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : {};
