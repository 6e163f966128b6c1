import { Ajv2020 } from 'ajv/dist/2020.js';
import { hostedOpenApi } from '../../gateway/reference/openapi.js';

interface Operation {
  requestBody?: { content: Record<string, Content> };
  responses: Record<string, { content: Record<string, Content> }>;
}

interface Content {
  schema: object;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

/** What the hosted interface says of itself. */
export const DOCUMENT = hostedOpenApi('1.2.3') as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
};

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(DOCUMENT, 'document');

const known = new Map<string, ReturnType<typeof ajv.compile>>();

/** What is wrong with a value by a schema of the document; null: nothing. */
export function misfit(schema: object, value: unknown): unknown {
  const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
  const check = known.get(text) ?? ajv.compile(JSON.parse(text) as object);
  known.set(text, check);
  return check(value) ? null : check.errors;
}

/** The same by the name of the schema. */
export const misfitOf = (name: string, value: unknown) =>
  misfit({ $ref: `#/components/schemas/${name}` }, value);
