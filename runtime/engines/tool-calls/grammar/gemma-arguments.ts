import { RunError } from '../../../core/errors.js';
import type { GemmaFormat } from '../formats/format.js';
import { schemaTypes } from '../formats/cast.js';
import { alone, type GrammarTool, keywordsBut, NOT_HERE, propertiesOf } from './arguments-schema.js';
import { literal, type Lark, oneOf, quoted } from './lark.js';
import { type RawWriting, rawValue } from './raw-values.js';
import { inOrder } from './sequence.js';

type Schema = Record<string, unknown>;

const MOST_VALUES = 500;

/** `{key:value,…}` with texts between marks of their own, in lists and objects, too. */
export function gemmaArguments(lark: Lark, { quote }: GemmaFormat): (tool: GrammarTool) => string {
  const mark = lark.text(quote);
  const isToken = typeof lark.parts(quote)[0] === 'number';
  const end = isToken ? `/(?s:.*)/ ${mark}` : lark.rule(`/(?s:.*)${literal(quote)}/`, '[lazy]');
  const writing: RawWriting = {
    text: `${mark} ${end}`,
    literal: (text) => lark.text(`${quote}${text}${quote}`),
    other,
  };
  let left = 0;
  return (tool) => {
    left = MOST_VALUES;
    return object(tool);
  };

  function object(tool: GrammarTool): string {
    const items = propertiesOf(tool).map(({ key, schema, required }) => ({
      body: `${quoted(`${key}:`)} ${value(schema, tool)}`,
      required,
    }));
    return `"{" ${inOrder(lark, items, '","')} "}"`;
  }

  function value(schema: unknown, tool: GrammarTool): string {
    // Schemas that refer to themselves have no end.
    if (left-- <= 0) {
      if (!tool.strict) return '"{}"';
      throw new RunError('invalid_input', `${tool.place}: this depth ${NOT_HERE}`);
    }
    return lark.rule(rawValue(schema, tool, writing));
  }

  function other(schema: Schema, tool: GrammarTool): string {
    const choices = [schema['anyOf'], schema['oneOf']].flat().filter((one) => one !== undefined);
    if (choices.length > 0) return oneOf(choices.map((one) => value(one, tool)));
    const types = schemaTypes(schema, tool.schema);
    const nested = types.filter((type) => type === 'array' || type === 'object');
    if (nested.length === 0) return lark.arguments(alone(schema, tool.schema), !tool.strict);
    if (types.length === 1 && types[0] === 'array') return list(schema, tool);
    if (types.length === 1 && schema['properties'] !== undefined) {
      const { $defs, definitions } = tool.schema;
      return object({ ...tool, schema: { ...schema, $defs, definitions } });
    }
    if (tool.strict) throw new RunError('invalid_input', `${tool.place}: type ${types.join()} ${NOT_HERE}`);
    return nested.includes('object') ? '"{}"' : '"[]"';
  }

  function list(schema: Schema, tool: GrammarTool): string {
    const [keyword] = keywordsBut(schema, ['type', 'items', 'minItems', 'maxItems']);
    const { items, minItems: least, maxItems: most } = schema;
    if (tool.strict && keyword !== undefined)
      throw new RunError('invalid_input', `${tool.place}: ${keyword} ${NOT_HERE}`);
    const one = value(items ?? {}, tool);
    const more = typeof most === 'number' ? Math.max(0, most - 1) : '';
    if (most === 0) return '"[]"';
    if (typeof least === 'number' && least > 0) return `"[" ${one} ("," ${one}){${least - 1},${more}} "]"`;
    return `"[" (${one} ("," ${one}){0,${more}})? "]"`;
  }
}
