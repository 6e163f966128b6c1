import { describe, expect, test } from '@jest/globals';
import { answerText } from '../../../../../runtime/engines/generation/grammar/answer-text.js';
import { askedGrammar } from '../../../../../runtime/engines/generation/grammar/asked-grammar.js';
import {
  GrammarInstance,
  SPECIAL,
  tokenTable,
} from '../../../../../runtime/engines/generation/grammar/llguidance/instance.js';
import { Lark } from '../../../../../runtime/engines/tool-calls/grammar/lark.js';
import type { GenerateOptions } from '../../../../../runtime/core/handles/index.js';

/** What is asked for, behind a mark that stands for thoughts; bytes are tokens. */

const END = 256;
const bytes = Array.from({ length: 256 }, (_, i) => Uint8Array.of(i));
const tokens = [...bytes, Uint8Array.of(SPECIAL, 0x3c)];

async function accepts(options: GenerateOptions, text: string): Promise<boolean> {
  const lark = new Lark({ ids: new Map(), ends: new Set([END]) });
  const source = lark.toString(`"#" ${answerText(askedGrammar(options)!)(lark)}`);
  const instance = await GrammarInstance.open(tokenTable(tokens, [END]));
  const state = instance.compile('lark', source);
  for (const id of Buffer.from(`#${text}`)) {
    if (!state.allows(id)) return false;
    state.consume(id);
  }
  return state.accepting;
}

const date = { type: 'string', format: 'date' };
const time = { type: 'string', format: 'date-time', pattern: '^20' };

describe.each<[GenerateOptions, string[], string[]]>([
  [{ regex: 'a/b\\/c\n[0-9]+' }, ['a/b/c\n12'], ['a/b/c12', 'a/b\\/c\n1']],
  [{ choices: ['x/"y"', '{"'] }, ['x/"y"', '{"'], ['x']],
  [
    { grammar: 'start: start-x "start" | re // start\nstart-x: "a"\nre: /start\\/[0-9]/' },
    ['astart', 'start/1'],
    ['start'],
  ],
  [
    { json_schema: date },
    ['"2024-02-29"', '"2000-02-29"', '"2023-12-31"', '"2023-04-30"'],
    ['"2023-02-29"', '"1900-02-29"', '"2023-04-31"'],
  ],
  [
    { json_schema: time },
    ['"2024-02-29T23:59:59Z"'],
    ['"2023-02-29T23:59:59Z"', '"2024-01-01T23:59:60Z"', '"1999-01-01T00:00:00Z"'],
  ],
  [{ json_schema: { const: { format: 'date' } } }, ['{"format":"date"}'], []],
  [
    { json_schema: { properties: { format: date }, required: ['format'] } },
    ['{"format":"2024-01-01"}'],
    ['{"format":"2023-02-29"}'],
  ],
])('%j', (options, right, wrong) => {
  test.each(right)('%s fits', async (text) => expect(await accepts(options, text)).toBe(true));
  if (wrong.length > 0)
    test.each(wrong)('%s does not', async (text) => expect(await accepts(options, text)).toBe(false));
});
