import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { createChatTemplate } from '../../../../runtime/engines/chat-templates/chat-template.js';
import { declaredWord } from '../../../../runtime/engines/tool-calls/declared/declared.js';
import { patternParts } from '../../../../runtime/engines/tool-calls/declared/pattern.js';
import { factsOf } from '../../../../runtime/engines/tool-calls/facts.js';
import { supportOf } from '../../../../runtime/engines/tool-calls/probe/probe.js';
import { inTokens, readAnswer } from './support.js';

const cases = JSON.parse(readFileSync('test/fixtures/tool-templates/declared.json', 'utf8')) as {
  name: string;
  field: 'response_template' | 'response_schema';
  word: object;
  answer: string;
  prompt: string;
  /** What transformers 5.24 makes of it; of schemas, what they say. */
  python: {
    content?: string;
    reasoning_content?: string;
    tool_calls: { function: { name: string; arguments: object } }[];
  };
}[];

describe.each(cases)('$name ($field)', ({ field, word, answer, python }) => {
  const declared = declaredWord({ [field]: word })!;

  test('an answer is read as Python reads it', () => {
    expect(declared.note).toBeUndefined();
    const { format, reasoning } = declared;
    const special = [...answer.matchAll(/<\/?[|\w]+>|\[[A-Z_]+\]/g)].map(([text]) => text);
    for (const chosen of [[], special]) {
      const read = readAnswer(inTokens(answer, chosen), { format, reasoning, special: chosen });
      const calls = read.calls.map(({ name, arguments: given }) => ({
        name,
        arguments: JSON.parse(given) as unknown,
      }));
      expect({ content: read.content, reasoning: read.reasoning, calls }).toEqual({
        ...{ content: python.content ?? '', reasoning: python.reasoning_content ?? '' },
        calls: python.tool_calls.map((call) => call.function),
      });
    }
  });
});

const template = (file = 'hermes.jinja') =>
  createChatTemplate({
    templates: { default: readFileSync(`test/fixtures/tool-templates/${file}`, 'utf8') },
    tokenizerConfig: {},
  })!;

const calls = {
  open: '<call>',
  close: '</call>',
  content: 'json',
  repeats: true,
  transform: { function: '{content}' },
};
const word = (tool_calls: object) => ({
  start_anchor: '<|im_start|>assistant\n',
  fields: { tool_calls, content: {} },
});

test("the repository's own word comes before what its chat template writes", () => {
  const facts = factsOf(template(), { response_template: word(calls) });
  expect(facts).toMatchObject({ source: 'response_template', format: { kind: 'json', starts: ['<call>'] } });
  // What is forced has to begin as what is read.
  expect(facts.frame!.open).toContain('<call>');
  expect(facts.frame!.close).toContain('</call>');
  expect(supportOf(facts)).toMatchObject({ known_by: 'response_template', markers: ['<call>'] });
});

test('where marks agree, the frame is as the template writes calls', () => {
  const plain = factsOf(template(), {});
  const facts = factsOf(template(), {
    response_template: word({ ...calls, open: '<tool_call>', close: '</tool_call>' }),
  });
  expect(facts).toMatchObject({ source: 'response_template', frame: plain.frame });
});

test.each([
  [{ ...calls, content: 'kv-lines' }, 'fields.tool_calls says more'],
  [{ ...calls, open: undefined, open_pattern: '<a|b>(x+)' }, 'fields.tool_calls says more'],
  [{ ...calls, content_args: { unquoted_keys: true } }, 'fields.tool_calls says more'],
  [{ ...calls, made_up: 1 }, 'fields.tool_calls'],
  [{ ...calls, open: '' }, 'fields.tool_calls.open'],
])('what is not understood is told, and the chat template decides: %j', (given, note) => {
  const facts = factsOf(template(), { response_template: word(given) });
  expect(facts).toMatchObject({ source: 'probe', format: { kind: 'json', starts: ['<tool_call>'] } });
  expect(supportOf(facts).note).toContain(`response_template of tokenizer_config.json: ${note}`);
});

test.each([null, 1, 'text', [], {}, { fields: null }, { properties: 1 }, { properties: { tool_calls: [] } }])(
  'a word that is none is told, and nothing throws: %j',
  (given) => {
    for (const field of ['response_template', 'response_schema']) {
      const { source, note } = factsOf(template(), { [field]: given });
      expect({ source, isTold: note !== undefined }).toEqual({
        source: 'probe',
        isTold: given !== null,
      });
    }
  },
);

test('a template that knows no tools is asked in the generic form, whatever the repository says', () => {
  expect(factsOf(template('plain.jinja'), { response_template: word(calls) })).toMatchObject({
    source: 'generic',
  });
});

test.each(['('.repeat(5000), '(?:'.repeat(2000), '[', '\\', '(?P<', 'a{', '(?:a|', '(((((a)+)+)+)+)+$'])(
  'hostile patterns are parsed, not run: %s',
  (pattern) => {
    const started = performance.now();
    patternParts(pattern);
    expect(performance.now() - started).toBeLessThan(500);
  },
);
