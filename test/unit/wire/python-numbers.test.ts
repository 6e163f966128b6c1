import { randomBytes } from 'node:crypto';
import { createChatTemplate } from '../../../runtime/engines/chat-templates/chat-template.js';
import { parseNumbers, stringifyNumbers } from '../../../runtime/wire/python-numbers.js';

/** What Python's json.loads and json.dumps make of these, computed by CPython 3. */
const GIVEN =
  '[1.0, -0.0, 0.0, 1e5, 1E400, -1e400, 9007199254740993, -123456789012345678901234567890, 1e16, 1e22, 1.5, 3, -0, 1.0e2, 9007199254740992, 12345678901234567890.0, 100000000000000000000]';
const DUMPED =
  '[1.0, -0.0, 0.0, 100000.0, Infinity, -Infinity, 9007199254740993, -123456789012345678901234567890, 1e+16, 1e+22, 1.5, 3, 0, 100.0, 9007199254740992, 1.2345678901234567e+19, 100000000000000000000]';
const PRINTED = DUMPED.replaceAll('Infinity', 'inf');

interface Body {
  messages: { role: string; content: string; given: unknown }[];
  params: { tools: unknown };
}

const render = (source: string, given: unknown) =>
  createChatTemplate({ templates: { default: source }, tokenizerConfig: {} })!.render(
    [{ role: 'user', content: 'x' }],
    { variables: { given }, continues: false },
  );

/** As a body, over to the engine, into a template. */
const through = (source: string, json: string) => {
  const { params } = parseNumbers(`{"params":{"tools":${json}}}`) as Body;
  return render(source, structuredClone(params.tools));
};

test('as Python writes and prints them', () => {
  expect(through('{{ given | tojson }}', GIVEN)).toBe(DUMPED);
  expect(through('{{ given }}', GIVEN)).toBe(PRINTED);
});

test.each([
  ['{{ given[0] + 1 }}', '[9007199254740993]', '9007199254740994'],
  ['{{ given[0] - 9007199254740000 }}', '[9007199254740993]', '993'],
  ['{{ given[0] * 10 }}', '[9007199254740993]', '90071992547409930'],
  ['{{ given[0] // 10 }}|{{ given[0] % 10 }}', '[-90071992547409931]', '-9007199254740994|9'],
  ['{{ -given[0] }}', '[9007199254740993]', '-9007199254740993'],
  [
    '{{ given[0] == given[1] }}|{{ given[0] > given[1] }}',
    '[9007199254740993, 9007199254740992]',
    'False|True',
  ],
  [
    '{{ given[0] is integer }}|{{ given[0] is number }}|{{ given[0] is float }}',
    '[9007199254740993]',
    'True|True|False',
  ],
  ['{{ given[0] is float }}|{{ given[0] == 1 }}|{{ given[0] + 1 }}', '[1.0]', 'True|True|2.0'],
  ['{% if given[0] %}yes{% else %}no{% endif %}', '[-0.0]', 'no'],
  ['{{ given[0] }}|{{ "%d" | format(given[1]) }}', '[1.0, 5.0]', '1.0|5'],
])('%s of %s', (source, json, expected) => {
  expect(through(source, json)).toBe(expected);
});

test('only where templates see them; everything else is as JSON.parse has it', () => {
  const text = `{"text":"1.0","max":1.0,"messages":[{"role":"user","content":"1.0 and 9007199254740993","n":2.0}],
    "params":{"temperature":1.0,"seed":5e0,"tools":[{"a":"\\"1.0","b":[1.0]}],"chat_template_kwargs":{"x":3.0}},
    "input":{"messages":[{"n":4.0}],"json":1.0},"documents":[{"n":5.0}]}`;
  const parsed = parseNumbers(text) as Record<string, Record<string, unknown>>;
  // A Number object is equal to its number but for its kind.
  expect(JSON.parse(JSON.stringify(parsed))).toEqual(JSON.parse(text));
  expect([
    parsed['max'],
    parsed['params']!['temperature'],
    parsed['params']!['seed'],
    parsed['input']!['json'],
  ]).toEqual([1, 1, 5, 1]);
  expect(stringifyNumbers(parsed)).toBe(
    '{"text":"1.0","max":1,"messages":[{"role":"user","content":"1.0 and 9007199254740993","n":2.0}],' +
      '"params":{"temperature":1,"seed":5,"tools":[{"a":"\\"1.0","b":[1.0]}],"chat_template_kwargs":{"x":3.0}},' +
      '"input":{"messages":[{"n":4.0}],"json":1},"documents":[{"n":5.0}]}',
  );
});

test('the shorthand for messages', () => {
  expect(stringifyNumbers(parseNumbers('{"input":[{"n":1.0}]}'))).toBe('{"input":[{"n":1.0}]}');
});

test.each([
  ...['{"messages":[01.0]}', '{"messages":[1.]}', '{"messages":[.5, 1.0]}', '{"messages":[1.0}', '[+1.0]'],
  ...['{"messages":"\\x1.0"}', '1.0.0', '{"messages":[--1.0]}', '{"messages":[1e]}'],
])('%s is no JSON', (text) => {
  expect(() => parseNumbers(text)).toThrow(SyntaxError);
});

test('a number longer than Python takes is refused', () => {
  const body = (digits: number) => `{"messages":[${'9'.repeat(digits)}]}`;
  expect(stringifyNumbers(parseNumbers(body(4300)))).toBe(body(4300));
  expect(() => parseNumbers(body(4301))).toThrow('a number of the body has more than 4300 digits');
});

test('what looks like a carrier in a body is an ordinary object', () => {
  expect(through('{{ given | tojson }}', '{"float": 1.0, "n": {"float": 2}}')).toBe(
    '{"float": 1.0, "n": {"float": 2}}',
  );
});

test('as many values and as long strings as the reader of bodies lets through take a moment', () => {
  const strings = Array.from({ length: 16 }, () => `"1.0${'\\"'.repeat(2 ** 15 - 8)}"`);
  const text = `{"messages":[${'1.0,'.repeat(20_000)}${strings.join()},"${randomBytes(2 ** 19).toString('hex')}"]}`;
  const started = performance.now();
  parseNumbers(text);
  // On a busy machine; 30 ms on a quiet one.
  expect(performance.now() - started).toBeLessThan(1000);
});
