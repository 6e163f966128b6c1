import { schemaTypes } from '../formats/cast.js';
import { resolved } from '../formats/references.js';
import { alone, type GrammarTool, keywordsBut, propertiesOf } from './arguments-schema.js';
import { type Lark, quoted } from './lark.js';
import { inOrder } from './sequence.js';

/** `(key=value, …)`: values are JSON, which Python reads but for three words that its parser here knows. */
export function pythonArguments(lark: Lark): (tool: GrammarTool) => string {
  return (tool) => {
    const items = propertiesOf(tool).map(({ key, schema, required }) => ({
      body: `${quoted(`${key}=`)} ${valueOf(lark, tool, schema)}`,
      required,
    }));
    return `"(" ${inOrder(lark, items, '/, ?/')} ")"`;
  };
}

function valueOf(lark: Lark, tool: GrammarTool, given: unknown): string {
  const schema = resolved(given, tool.schema);
  const plain = keywordsBut(schema, ['type']).length === 0;
  if (plain && schemaTypes(schema, tool.schema).join() === 'boolean') return '("True" | "False")';
  return lark.arguments(alone(schema, tool.schema), !tool.strict);
}
