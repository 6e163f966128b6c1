import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ChatMessage } from '../../../../runtime/core/handles/index.js';
import {
  createChatTemplate,
  loadChatTemplate,
  loadProcessorTemplate,
} from '../../../../runtime/engines/chat-templates/chat-template.js';

interface Fixture {
  templates: Record<string, string>;
  tokens: Record<string, string>;
  cases: {
    name: string;
    template: string;
    messages: ChatMessage[];
    variables: Record<string, unknown>;
    expect: string | null;
  }[];
}

// scripts/fixtures/chat_cases.py wrote this with transformers 4.57.6.
const file = join(import.meta.dirname, '../../../fixtures/chat-templates.json');
const { templates, tokens, cases } = JSON.parse(await readFile(file, 'utf8')) as Fixture;

const templateOf = (text: string) =>
  createChatTemplate({ templates: { default: text }, tokenizerConfig: tokens })!;

test.each(cases)('$name as Python renders it', ({ template, messages, variables, expect: expected }) => {
  const continues = messages.at(-1)!.role === 'assistant';
  const render = () => templateOf(templates[template]!).render(messages, { variables, continues });
  if (expected === null) expect(render).toThrow(/chat template/);
  else expect(render()).toBe(expected);
});

test('what a template says when it refuses reaches the caller', () => {
  const system = [{ role: 'system', content: 'x' }];
  const render = () => templateOf(templates['strict']!).render(system, { variables: {}, continues: false });
  expect(render).toThrow(/refuses this conversation: .*No system here/);
});

test('templates that print the content get blocks as one text', () => {
  const messages = [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    },
  ];
  const text = templateOf(templates['marks']!).render(messages, { variables: {}, continues: false });
  expect(text).toBe('<|user|>\nab<|end|>\n<|assistant|>\n');
});

test.each([
  ['a call without text', { role: 'assistant', content: null, tool_calls: [] }, /no text to go on with/],
  ['a message that the template leaves out', { role: 'assistant', content: 'x' }, /leaves out the last/],
])('%s can’t be continued', (_, last, refusal) => {
  const messages = [{ role: 'user', content: 'a' }, last];
  const template = templateOf('{% for m in messages if m.role == "user" %}{{ m.content }}{% endfor %}');
  expect(() => template.render(messages, { variables: {}, continues: true })).toThrow(refusal);
});

test('a model’s own special tokens are variables, too', () => {
  const config = {
    bos_token: null,
    extra_special_tokens: { image_token: '<img>', eoi_token: { content: '<e>' } },
  };
  const text = '{{ image_token }}{{ eoi_token }}{{ bos_token is defined }}';
  const template = createChatTemplate({ templates: { default: text }, tokenizerConfig: config })!;
  expect(template.render([], { variables: {}, continues: false })).toBe('<img><e>False');
});

test('loops over all messages for each of very many messages come to an end', () => {
  const template = templateOf(
    '{% for a in range(10000) %}{% for b in range(10000) %}{% endfor %}{% endfor %}',
  );
  const render = () => template.render([], { variables: {}, continues: false });
  expect(render).toThrow(/too many turns/);
});

test('a template that can’t be parsed is told when the model loads', () => {
  expect(() => templateOf('{% for %}')).toThrow(/chat template can't be read/);
});

describe('where the template is found', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'chat-template-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  const messages = [{ role: 'user', content: 'x' }];
  const found = async (files: Record<string, string>, config: object, variables = {}) => {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(dir, name)), { recursive: true });
      await writeFile(join(dir, name), text);
    }
    const template = await loadChatTemplate(dir, config as Record<string, unknown>);
    return template?.render(messages, { variables, continues: false });
  };
  const tools = { tools: [{ name: 'f' }] };

  test('nowhere', async () => expect(await found({}, {})).toBeUndefined());

  test('in tokenizer_config.json', async () => expect(await found({}, { chat_template: 'C' })).toBe('C'));

  test('in a file of its own, which wins', async () => {
    expect(await found({ 'chat_template.jinja': 'J' }, { chat_template: 'C' })).toBe('J');
  });

  test('in the older chat_template.json, which comes last', async () => {
    const files = { 'chat_template.json': JSON.stringify({ chat_template: 'O' }) };
    expect(await found(files, {})).toBe('O');
    expect(await found(files, { chat_template: 'C' })).toBe('C');
  });

  test('for media in the files of the processor, then its own, then in those of the tokenizer', async () => {
    const at = async (given: Record<string, string>, config: object, usual?: string) => {
      const own = await mkdtemp(join(dir, 'own-'));
      for (const [name, text] of Object.entries(given)) await writeFile(join(own, name), text);
      const template = await loadProcessorTemplate(own, config as Record<string, unknown>, usual);
      return template?.render(messages, { variables: {}, continues: false });
    };
    const json = { 'chat_template.json': JSON.stringify({ chat_template: 'O' }) };
    const processor = { 'processor_config.json': JSON.stringify({ chat_template: 'P' }) };
    const tokenizer = { chat_template: 'C' };
    expect(await at({ 'chat_template.jinja': 'J', ...json }, tokenizer, 'U')).toBe('J');
    expect(await at({ ...json, ...processor }, tokenizer, 'U')).toBe('O');
    expect(await at(processor, tokenizer, 'U')).toBe('P');
    expect(await at({}, tokenizer, 'U')).toBe('U');
    expect(await at({}, tokenizer)).toBe('C');
  });

  test('in a list with names, of which tools have one', async () => {
    const chat_template = [
      { name: 'default', template: 'D' },
      { name: 'tool_use', template: 'T' },
    ];
    expect(await found({}, { chat_template })).toBe('D');
    expect(await found({}, { chat_template }, tools)).toBe('T');
  });

  test('in additional files', async () => {
    const files = { 'chat_template.jinja': 'J', 'additional_chat_templates/tool_use.jinja': 'U' };
    expect(await found(files, {}, tools)).toBe('U');
  });
});
