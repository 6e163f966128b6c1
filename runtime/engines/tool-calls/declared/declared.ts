import type { ReasoningFormat, ToolFormat } from '../formats/format.js';
import { schemaWord } from './schema.js';
import { templateWord } from './template.js';
import type { Word } from './word.js';

/** What a repository says itself of how its model's answers are read. */
export interface Declared {
  field: 'response_template' | 'response_schema';
  format?: ToolFormat | undefined;
  reasoning?: ReasoningFormat | undefined;
  /** What of it is not understood, so that the chat template decides. */
  note?: string | undefined;
}

/**
 * Reads `response_template` (transformers 5.13 and later), else `response_schema` (5.0 and later), of tokenizer_config.json.
 * @returns undefined where it has neither
 */
export function declaredWord(tokenizerConfig: Readonly<Record<string, unknown>>): Declared | undefined {
  const { response_template: template, response_schema: schema } = tokenizerConfig;
  if (template != null)
    return { field: 'response_template', ...noted('response_template', templateWord(template)) };
  if (schema != null) return { field: 'response_schema', ...noted('response_schema', schemaWord(schema)) };
  return undefined;
}

const noted = (field: string, { unclear, ...word }: Word): Omit<Declared, 'field'> =>
  unclear === undefined
    ? word
    : { ...word, note: `${field} of tokenizer_config.json: ${unclear}; the chat template was asked instead` };
