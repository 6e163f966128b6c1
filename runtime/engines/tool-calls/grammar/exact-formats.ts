type Schema = Record<string, unknown>;

/** No day that a month has not: 29 February in leap years only. */
const DATE =
  '(?:[0-9]{4}-(?:[0-9]{2}-(?:[01][0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)|' +
  '(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)';
/** No leap second, whose minute no expression can tell by itself. */
const SECONDS = '[0-9]{2}:[0-9]{2}:[0-5][0-9]';

/** A label without `--` behind two characters: those are punycode, whose rules no expression holds. */
const LABEL = (() => {
  const [a, x] = ['[A-Za-z0-9]', '[A-Za-z0-9-]'];
  return `${a}(?:${a}|${x}${a}|${x}(?:${a}${a}|-${a})|${x}(?:${a}${x}|-${a})${x}{0,58}${a})?`;
})();

/** What llguidance's own expressions of formats leave open. */
const PATTERNS: Readonly<Record<string, string>> = {
  date: `^${DATE}$`,
  time: `^${SECONDS}`,
  'date-time': `^${DATE}[tT]${SECONDS}`,
  hostname: `^${LABEL}(?:\\.${LABEL})*$`,
};

/** Keywords whose values are no schemas, and those that hold schemas by names. */
const VALUES: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);
const NAMED: ReadonlySet<string> = new Set([
  ...['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'],
]);

/** The schema, with dates and times that are exact. */
export function exactFormats(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(exactFormats);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.entries(schema).map(([key, value]) => {
    if (VALUES.has(key)) return [key, value] as const;
    return [key, NAMED.has(key) ? byName(value) : exactFormats(value)] as const;
  });
  return withPattern(Object.fromEntries(inner));
}

function byName(schemas: unknown): unknown {
  if (typeof schemas !== 'object' || schemas === null || Array.isArray(schemas)) return schemas;
  return Object.fromEntries(Object.entries(schemas).map(([name, one]) => [name, exactFormats(one)]));
}

function withPattern(schema: Schema): Schema {
  const { format, pattern: own, allOf } = schema;
  const pattern =
    typeof format === 'string' && Object.hasOwn(PATTERNS, format) ? PATTERNS[format] : undefined;
  if (pattern === undefined) return schema;
  const limited = format === 'hostname' ? withMost(schema, LONGEST_HOST) : schema;
  if (own === undefined) return { ...limited, pattern };
  return { ...limited, allOf: [...(Array.isArray(allOf) ? (allOf as unknown[]) : []), { pattern }] };
}

const LONGEST_HOST = 253;

function withMost(schema: Schema, most: number): Schema {
  const { maxLength } = schema;
  return { ...schema, maxLength: typeof maxLength === 'number' ? Math.min(maxLength, most) : most };
}
