import { expect, test } from '@jest/globals';
import { castValue, schemaTypes } from '../../../../runtime/engines/tool-calls/formats/cast.js';
import type { ToolFormat } from '../../../../runtime/engines/tool-calls/formats/format.js';
import { probeTemplate } from '../../../../runtime/engines/tool-calls/probe/probe.js';
import { joined, readAnswer } from './support.js';

const format: ToolFormat = {
  ...{ kind: 'json', starts: ['<tool_call>'], ends: ['</tool_call>'], name: 'name', arguments: 'arguments' },
};
const reasoning = { start: '<think>', end: '</think>' };
const call = (given: string) => `<tool_call>{"name": "get_time", "arguments": ${given}}</tool_call>`;

test.each([
  ['deep nesting', call(`{"city": ${'['.repeat(5000)}`)],
  ['an unknown escape', call('{"city": "\\x"}')],
  ['a list for arguments', call('[1]')],
  ['two names', '<tool_call>{"name": "get_time", "name": "get_weather"}</tool_call>'],
  ['no name', '<tool_call>{"arguments": {}}</tool_call>'],
  ['words', '<tool_call>I would call get_time</tool_call>'],
])('%s is no call, but content', (_, text) => {
  const { content, calls } = readAnswer([text], { format });
  expect(calls).toEqual([]);
  expect(content).toContain('</tool_call>');
});

test.each([
  ['{"city": "a\\u00e9", "days": 1.50}', '{"city": "a\\u00e9", "days": 1.50}'],
  ['"{\\"city\\": \\"a\\"}"', '{"city": "a"}'],
  ['null', '{}'],
  ['{"city": "one\nline"}', '{"city": "one\\nline"}'],
])('arguments %s stay as the model writes them, if they are JSON', (given, expected) => {
  expect(readAnswer([call(given)], { format }).calls).toEqual([{ name: 'get_time', arguments: expected }]);
});

test('a call after one that is none, and text that goes on', () => {
  const text = `<tool_call>{"name": "launch"}</tool_call> ${call('{}')} done`;
  const { calls, content, deltas } = readAnswer(Array.from(text), { format });
  expect(calls).toEqual([{ name: 'get_time', arguments: '{}' }]);
  expect(content).toContain('launch');
  expect(joined(deltas)).toEqual({ content, calls, reasoning: '' });
});

test('reasoning that the prompt has begun, that is cut off, and that is none', () => {
  const open = { format, reasoning, thinking: true };
  expect(readAnswer(['hm\n</think>\n\n', 'Yes.'], open)).toMatchObject({ reasoning: 'hm', content: 'Yes.' });
  expect(readAnswer(['hm, <tool_call>'], { ...open, cut: true })).toMatchObject({ content: '', calls: [] });
  expect(readAnswer(['A <think> tag.'], { format, reasoning })).toMatchObject({ content: 'A <think> tag.' });
});

test('long answers in small pieces take time in proportion', () => {
  const pieces = Array.from({ length: 60_000 }, (_, i) =>
    i % 3 === 0 ? '\n' : i % 3 === 1 ? '<tool' : 'x" ',
  );
  const started = performance.now();
  readAnswer(pieces, { format });
  readAnswer(['<tool_call>{"name": "get_time", "arguments": {"city": "', ...pieces], { format });
  readAnswer(
    pieces.map(() => '\n'),
    { format },
  );
  expect(performance.now() - started).toBeLessThan(5000);
});

test('a template that takes long is not asked for long', () => {
  let asked = 0;
  const render = () => {
    asked++;
    const until = performance.now() + 300;
    while (performance.now() < until);
    return 'x';
  };
  expect(probeTemplate({ source: 'x', render }).format).toEqual({ kind: 'generic' });
  expect(asked).toBeLessThanOrEqual(4);
});

test.each([
  ['3', ['integer'], '3'],
  ['3.0', ['integer'], '3'],
  ['007', ['integer'], '7'],
  ['2.50', ['number'], '2.50'],
  ['True', ['boolean'], 'true'],
  ['None', ['integer', 'null'], 'null'],
  ['["a"]', ['array'], '["a"]'],
  ['[1', ['array'], '"[1"'],
  ['12', ['string'], '"12"'],
  ['1e999', ['number'], '"1e999"'],
])('%s as %j is %s', (raw, types, expected) => {
  expect(castValue(raw, types)).toBe(expected);
});

test('types of a schema, of unions and of values', () => {
  expect(schemaTypes({ anyOf: [{ type: 'integer' }, { type: ['null', 'string'] }] })).toEqual([
    ...['integer', 'null', 'string'],
  ]);
  expect(schemaTypes({ enum: ['a', 1] })).toEqual(['string', 'number']);
  expect(schemaTypes('x')).toEqual([]);
});
