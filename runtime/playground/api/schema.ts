/** What is read of JSON Schema here. */
export interface Schema {
  type?: string | readonly string[];
  description?: string;
  default?: unknown;
  enum?: readonly unknown[];
  const?: unknown;
  minimum?: number;
  maximum?: number;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
}

/** How a value is asked for. */
export type Control =
  | { kind: 'flag' }
  | { kind: 'number'; whole: boolean; min?: number; max?: number }
  | { kind: 'choice'; values: readonly string[] }
  | { kind: 'text' }
  | { kind: 'json' };

/** The alternatives of a schema, without the one for null. */
function alternatives(schema: Schema): Schema[] {
  const options = (schema.anyOf ?? schema.oneOf)?.flatMap(alternatives) ?? [schema];
  return options.filter(({ type }) => type !== 'null');
}

const typesOf = ({ type }: Schema): string[] => [type ?? []].flat().filter((name) => name !== 'null');

/** The control for a parameter; JSON where no other holds all that its schema allows. */
export function controlOf(schema: Schema): Control {
  const options = alternatives(schema);
  const values = options.flatMap((option) => option.enum ?? ('const' in option ? [option.const] : []));
  const plain = options.filter((option) => !option.enum && !('const' in option));
  if (plain.length === 0 && values.every((value) => typeof value === 'string'))
    return { kind: 'choice', values };
  if (options.length !== 1) return { kind: 'json' };
  const [only] = options as [Schema];
  const [type, ...more] = typesOf(only);
  if (more.length > 0) return { kind: 'json' };
  if (type === 'boolean') return { kind: 'flag' };
  if (type === 'string') return { kind: 'text' };
  if (type === 'integer' || type === 'number')
    return { kind: 'number', whole: type === 'integer', min: only.minimum, max: only.maximum };
  return { kind: 'json' };
}
