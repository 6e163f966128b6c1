import { expect, test } from '@jest/globals';
import { randomModel } from './random-answers.js';

/** What can't be promised is refused with its name, before anything is compiled. */

const tool = (name: string, parameters: unknown, strict = true) => ({
  type: 'function',
  function: { name, parameters, strict },
});
const property = (given: object) => ({
  type: 'object',
  properties: { a: given },
  additionalProperties: false,
});

test.each<[string, object, string]>([
  ['hermes.jinja', { type: 'string' }, 'params.tools: f.parameters.type: must be object'],
  ['hermes.jinja', { 'x-guidance': {} }, 'params.tools: f.parameters: x-guidance is not supported'],
  [
    'hermes.jinja',
    { anyOf: Array.from({ length: 501 }, () => ({})) },
    'params.tools: f.parameters: has more than 500 objects',
  ],
  [
    'qwen3-coder.jinja',
    property({ type: 'string', pattern: '^a$' }),
    'f.parameters: pattern is not supported where',
  ],
  [
    'qwen3-coder.jinja',
    property({ type: ['string', 'integer'], maximum: 1 }),
    'f.parameters: maximum is not',
  ],
  [
    'qwen3-coder.jinja',
    { type: 'object', minProperties: 1 },
    'f.parameters: minProperties is not supported where',
  ],
  [
    'olmo-3.jinja',
    { type: 'object', properties: { 'a b': {} } },
    'the property "a b" is not supported where',
  ],
  [
    'function-gemma.jinja',
    property({ type: 'array', contains: {} }),
    'f.parameters: contains is not supported',
  ],
  ['function-gemma.jinja', property({ $ref: '#' }), 'f.parameters: this depth is not supported where'],
])('%s refuses %j', async (file, parameters, message) => {
  const model = await randomModel(file);
  expect(() => model.grammar({ tools: [tool('f', parameters)] })).toThrow(message);
  // Who wants no promise gets a call of that function.
  const free = { tools: [tool('f', parameters, false)] };
  const found = model.grammar({ ...free, tool_choice: 'required' });
  expect(found).toMatchObject({ param: 'tool_choice', optional: false });
  expect(model.grammar(free)).toBeUndefined();
});

test('a format goes with tools where they can be told apart', async () => {
  const tools = [tool('f', {}, false)];
  const generic = await randomModel('plain.jinja');
  expect(() => generic.grammar({ tools, regex: 'a' })).toThrow('params.regex: does not go with params.tools');
  expect(generic.grammar({ tools, json_object: true })).toMatchObject({ param: 'json_object' });
  const hermes = await randomModel('hermes.jinja');
  expect(hermes.grammar({ tools, regex: 'a' })).toMatchObject({ param: 'regex', optional: false });
  expect(hermes.grammar({ tools })).toBeUndefined();
  expect(generic.grammar({ tools })).toMatchObject({ param: 'tools', optional: true });
});

test('tools without end are too long', async () => {
  const { grammar } = await randomModel('hermes.jinja');
  const parameters = property({ enum: Array.from({ length: 2000 }, (_, i) => 'x'.repeat(20) + i) });
  const many = (strict: boolean) =>
    Array.from({ length: 9 }, (_, i) => tool(`f${i}`, { ...parameters, title: `t${i}` }, strict));
  expect(() => grammar({ tools: many(true) })).toThrow('params.tools: are longer than 256 KiB');
  const generic = await randomModel('plain.jinja');
  expect(generic.grammar({ tools: many(false) })).toBeUndefined();
});
