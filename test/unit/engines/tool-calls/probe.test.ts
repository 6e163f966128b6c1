import { describe, expect, test } from '@jest/globals';
import { effortVariables, prepareChat } from '../../../../runtime/engines/tool-calls/chat-tools.js';
import { FAMILIES } from './families.js';
import { readAnswer, TOOLS } from './support.js';
import { FAMILY_OF, loadTemplate as load, TEMPLATES as files } from './templates.js';

const calls = [
  { name: 'get_weather', arguments: { city: 'Paris' } },
  { name: 'get_time', arguments: { city: 'Rome' } },
];
const toolCalls = calls.map((call, i) => ({
  id: `call_${'x'.repeat(23)}${i}`,
  type: 'function',
  function: { name: call.name, arguments: JSON.stringify(call.arguments) },
}));

test('every template has a family', () => {
  expect(files.sort()).toEqual(Object.keys(FAMILY_OF).sort());
});

describe.each(files)('%s', (file) => {
  const { template, facts } = load(file);
  const user = { role: 'user', content: 'What is the weather?' };
  const options = { tools: TOOLS, parse_response: true };

  test('the answers of its family are read by the format that is found', () => {
    const { two, special, text } = FAMILIES[FAMILY_OF[file]!]!;
    const pieces = [two].flatMap((all) => cut(all, special));
    const read = readAnswer(pieces, { format: facts.format, special });
    expect(read.content).toBe(text);
    expect(read.calls.map(({ name }) => name)).toEqual(['get_weather', 'get_time']);
  });

  test('what it writes of a call is read as that call, and results come into the prompt', () => {
    const asked = prepareChat([user], {}, options, facts);
    const prompt = template.render(asked.messages, { variables: asked.variables, continues: false });
    expect(prompt).toContain('get_weather');
    const answered = [user, { role: 'assistant', content: null, tool_calls: toolCalls.slice(0, 1) }];
    const result = { role: 'tool', tool_call_id: toolCalls[0]!.id, content: 'It is windy.' };
    const history = prepareChat([...answered, result], {}, options, facts);
    const written = template.render(history.messages, {
      variables: history.variables,
      continues: false,
    });
    expect(written).toContain('It is windy.');
    expect(written).not.toMatch(/None|call_x{23}/);
    expect(written).toContain('Paris');
    // Where the prompt leads to the answer, what follows is what the model would have written.
    if (!written.startsWith(prompt)) return;
    const { special } = FAMILIES[FAMILY_OF[file]!]!;
    const read = readAnswer(cut(written.slice(prompt.length), special), { format: asked.format, special });
    expect(read.calls.map(({ name, arguments: given }) => [name, JSON.parse(given)])).toEqual([
      ['get_weather', { city: 'Paris' }],
    ]);
  });

  test('what is forced is the beginning of a call', () => {
    const choice = { name: 'get_weather' };
    const { forced, format } = prepareChat([user], {}, { tools: TOOLS, tool_choice: choice }, facts);
    const { special } = FAMILIES[FAMILY_OF[file]!]!;
    const kind = format!.kind;
    const rest: Record<string, string> = {
      'tagged-arguments':
        kind === 'tagged-arguments' && format!.kind === 'tagged-arguments'
          ? `${format!.nameEnd}${format!.argumentStart}city${format!.keyEnd}Paris${format!.valueEnd}\n${format!.ends[0]}`
          : '',
      pythonic: '(city="Paris")]',
      gemma: '{city:<escape>Paris<escape>}',
      generic: '{"city": "Paris"}}]}',
      json: '{"city": "Paris"}}]',
    };
    const text = forced + (rest[kind] ?? '{"city": "Paris"}');
    const read = readAnswer(cut(text, special), { format, special });
    expect(read.calls).toEqual([{ name: 'get_weather', arguments: '{"city": "Paris"}' }]);
  });
});

function cut(text: string, special: readonly string[]): string[] {
  if (special.length === 0) return [text];
  const escaped = special.map((token) => token.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return text.split(new RegExp(`(${escaped.join('|')})`)).filter((part) => part !== '');
}

test('what templates say of themselves', () => {
  const facts = Object.fromEntries(files.map((file) => [file, load(file).facts]));
  expect(facts['mistral-nemo.jinja']).toMatchObject({
    shortIds: true,
    argumentsForm: 'object',
    systemRole: false,
  });
  expect(facts['deepseek-v3.jinja']).toMatchObject({ argumentsForm: 'text', source: 'probe' });
  expect(facts['llama-3.1.jinja']).toMatchObject({ parallel: false, source: 'family' });
  expect(facts['hermes.jinja']).toMatchObject({
    reasoning: { start: '<think>', end: '</think>' },
    variables: { enableThinking: true },
  });
  expect(facts['mistral-small-3.2.jinja']!.reasoning).toEqual({ start: '[THINK]', end: '[/THINK]' });
  expect(facts['gpt-oss.jinja']).toMatchObject({
    reasoningKey: 'thinking',
    variables: { reasoningEffort: true },
  });
  expect(facts['kimi-k2.jinja']!.idsAreNames).toBe(true);
});

test('effort is a variable of the template, or none where the model does not think', () => {
  const { facts: hermes } = load('hermes.jinja');
  expect(effortVariables({ reasoning_effort: 'none' }, hermes)).toEqual({ enable_thinking: false });
  expect(() => effortVariables({ reasoning_effort: 'high' }, hermes)).toThrow('params.reasoning_effort');
  expect(effortVariables({ reasoning_effort: 'low' }, load('gpt-oss.jinja').facts)).toEqual({
    reasoning_effort: 'low',
  });
  expect(effortVariables({ reasoning_effort: 'low' }, load('plain.jinja').facts)).toEqual({});
});

test('calls in the history that are none are refused by name', () => {
  const { facts } = load('hermes.jinja');
  const message = (called: object) => ({ role: 'assistant', tool_calls: [{ function: called }] });
  expect(() => prepareChat([message({})], {}, {}, facts)).toThrow('messages.0.tool_calls.0.function.name');
  expect(() => prepareChat([message({ name: 'f', arguments: '[1]' })], {}, {}, facts)).toThrow(
    'messages.0.tool_calls.0.function.arguments: must be JSON of an object',
  );
});
