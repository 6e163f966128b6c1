import { RunError } from '../../../core/errors.js';
import { schemaTypes } from '../formats/cast.js';
import { objectOf, resolved } from '../formats/references.js';
import { type GrammarTool, keywordsBut, NOT_HERE } from './arguments-schema.js';
import { oneOf } from './lark.js';

type Schema = Record<string, unknown>;

/** How values are written that only a schema tells from texts. */
export interface RawWriting {
  /** A text that nothing limits, with its marks. */
  text: string;
  /** This text, with its marks. */
  literal(text: string): string;
  /** What is no text. @param schema without a reference at its top */
  other(schema: Schema, tool: GrammarTool): string;
}

/**
 * A value by its schema: the parser reads it by the same types.
 * @throws RunError 400 for what a strict schema says of a text beyond its being one of some
 */
export function rawValue(given: unknown, tool: GrammarTool, writing: RawWriting): string {
  const schema = resolved(given, tool.schema);
  const types = schemaTypes(schema, tool.schema);
  if (types.length > 0 && !types.includes('string')) return writing.other(schema, tool);
  const texts = textsOf(schema);
  if (texts && types.every((type) => type === 'string')) return oneOf(texts.map(writing.literal));
  const [other] = limitsOf(schema, tool.schema);
  if (tool.strict && other !== undefined)
    throw new RunError('invalid_input', `${tool.place}: ${other} ${NOT_HERE}`);
  return writing.text;
}

/** The texts that a schema allows, where it lists them. */
function textsOf({ enum: values, const: value }: Schema): string[] | undefined {
  const listed = value === undefined ? values : [value];
  if (!Array.isArray(listed) || listed.length === 0) return undefined;
  const texts = listed.filter((one): one is string => typeof one === 'string');
  return texts.length === listed.length ? texts : undefined;
}

/** Keywords that limit a value beyond its types. */
function limitsOf(schema: Schema, root: Schema, followed = new Set<unknown>()): string[] {
  const choices = [schema['anyOf'], schema['oneOf']].flat().filter((one) => one !== undefined);
  const others = choices.flatMap((one) => {
    const { $ref } = objectOf(one);
    if ($ref !== undefined && followed.has($ref)) return [];
    followed.add($ref);
    return limitsOf(resolved(one, root), root, followed);
  });
  return [...keywordsBut(schema, ['type', 'anyOf', 'oneOf', 'nullable']), ...others];
}
