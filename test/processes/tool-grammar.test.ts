import { jest } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { modelEnv, ROOT, startServer } from '../fakes/server.js';

/** Calls that follow a grammar, by OpenAI’s client over a real server of a tiny random model, which never calls by itself. */

jest.setTimeout(120_000);

const CHAT = join(ROOT, 'test/fixtures/zoo/chat/llama-chat/repo');

const parameters = {
  type: 'object',
  properties: {
    unit: { enum: ['celsius', 'kelvin'] },
    days: { type: 'integer', minimum: 1, maximum: 14 },
    place: { type: 'object', properties: { x: { type: 'integer' } }, additionalProperties: false },
  },
  required: ['unit', 'days'],
  additionalProperties: false,
};
const valid = new Ajv2020({ strict: false }).compile(parameters);
const tool = (name: string, strict = false, given: object = parameters) => ({
  type: 'function' as const,
  function: { name, parameters: given as Record<string, unknown>, strict },
});
const tools = [tool('forecast'), tool('forecast_all')];
const messages = [{ role: 'user' as const, content: 'hi' }];

/** The model with another template, whose special tokens take the places of the last ones that its vocabulary has. */
async function withTemplate(file: string, special: readonly string[] = []): Promise<string> {
  const dir = join(await mkdtemp(join(tmpdir(), 'slipway-calls-')), 'repo');
  await cp(CHAT, dir, { recursive: true });
  const change = async (name: string, values: object) => {
    const old = JSON.parse(await readFile(join(dir, name), 'utf8')) as object;
    await writeFile(join(dir, name), JSON.stringify({ ...old, ...values }));
  };
  const chat_template = await readFile(join(ROOT, 'test/fixtures/tool-templates', file), 'utf8');
  await change('tokenizer_config.json', { chat_template, model_max_length: 4096 });
  await change('config.json', { max_position_embeddings: 4096 });
  const tokenizer = JSON.parse(await readFile(join(dir, 'tokenizer.json'), 'utf8')) as TokenizerFile;
  const { vocab, merges } = tokenizer.model;
  const lost = Object.keys(vocab).filter((token) => vocab[token]! >= LAST - special.length);
  const joined = (merge: string | string[]) => (Array.isArray(merge) ? merge : merge.split(' ')).join('');
  const model = {
    ...{ ...tokenizer.model, merges: merges.filter((merge) => !lost.includes(joined(merge))) },
    vocab: Object.fromEntries(Object.entries(vocab).filter(([token]) => !lost.includes(token))),
  };
  const more = special.map((content, i) => ({
    ...{ ...tokenizer.added_tokens[0], content, id: LAST - special.length + i },
  }));
  await change('tokenizer.json', { model, added_tokens: [...tokenizer.added_tokens, ...more] });
  return dir;
}

/** How many tokens the vocabulary has beside its special ones. */
const LAST = 515;

interface TokenizerFile {
  added_tokens: object[];
  model: { vocab: Record<string, number>; merges: (string | string[])[] };
}

type Choice = OpenAI.ChatCompletion['choices'][number];

function expectCalls({ message, finish_reason }: Choice, names: readonly string[]): number {
  const calls = message.tool_calls ?? [];
  for (const call of calls) {
    if (call.type !== 'function') throw new Error(call.type);
    expect(names).toContain(call.function.name);
    expect([call.function.arguments, valid(JSON.parse(call.function.arguments))]).toEqual([
      ...[call.function.arguments, true],
    ]);
  }
  if (finish_reason === 'length') return 0;
  expect([finish_reason, message.content]).toEqual(['tool_calls', null]);
  expect(calls.length).toBeGreaterThan(0);
  return 1;
}

test.each<[string, string[]]>([
  ['llama-3.1.jinja', ['<|python_tag|>', '<|eom_id|>']],
  ['functionary-3.1.jinja', []],
  ['qwen3-coder.jinja', ['<|im_end|>']],
  ['olmo-3.jinja', []],
  ['plain.jinja', []],
  ['mistral-nemo.jinja', ['[TOOL_CALLS]']],
  [
    'gpt-oss.jinja',
    ['<|start|>', '<|channel|>', '<|message|>', '<|constrain|>', '<|call|>', '<|end|>', '<|return|>'],
  ],
  ['function-gemma.jinja', ['<start_function_call>', '<end_function_call>', '<escape>']],
])('%s: calls that are asked for are made, and are valid', async (file, special) => {
  const server = await startServer(await modelEnv(await withTemplate(file, special), { task: 'chat' }));
  const client = new OpenAI({ apiKey: 'k', baseURL: `${server.url}/v1`, maxRetries: 0 });
  const ask = (given: object) =>
    client.chat.completions.create({ model: 'm', messages, tools, max_tokens: 250, ...given });
  try {
    await server.ready();
    let ended = 0;
    const named = { type: 'function', function: { name: 'forecast_all' } };
    for (const temperature of [0, 1]) {
      const required = await ask({ temperature, seed: 3, tool_choice: 'required', n: temperature ? 4 : 1 });
      for (const choice of required.choices) ended += expectCalls(choice, ['forecast', 'forecast_all']);
      const one = await ask({ temperature, seed: 4, tool_choice: named });
      ended += expectCalls(one.choices[0]!, ['forecast_all']);
      const stream = client.chat.completions.stream({
        ...{ model: 'm', messages, tools, max_tokens: 250, temperature, seed: 4 },
        tool_choice: named as OpenAI.ChatCompletionToolChoiceOption,
      });
      const { message } = (await stream.finalChatCompletion()).choices[0]!;
      const told = (calls: OpenAI.ChatCompletionMessageToolCall[] | undefined) =>
        calls?.map((call) => call.type === 'function' && [call.function.name, call.function.arguments]);
      expect(told(message.tool_calls)).toEqual(told(one.choices[0]!.message.tool_calls));
    }
    expect(ended).toBeGreaterThan(1);
    const strict = { tools: [tool('f', true, { type: 'object', minProperties: 1, not: {} })] };
    await expect(ask(strict)).rejects.toMatchObject({
      ...{
        status: 400,
        message: expect.stringMatching(/f\.parameters: (?:not|minProperties) is not supported/),
      },
    });
  } finally {
    await server.stop();
  }
});

test('a model thinks before it calls, and before a text of a format', async () => {
  const server = await startServer(await modelEnv(await withTemplate('hermes.jinja'), { task: 'chat' }));
  const { loadTokenizer } = await import('../../runtime/engines/tokenizers/tokenizer.js');
  const { ids } = (await loadTokenizer(CHAT)).encode('<think>\nHm.\n</think>', { specialTokens: false });
  const sequence_bias = ids.map((_, i) => [ids.slice(0, i + 1), 1000 * (i + 1)]);
  const post = async (given: object) => {
    const body = JSON.stringify(given);
    const answer = await fetch(`${server.url}/run`, { method: 'POST', body, headers: JSON_BODY });
    return (await answer.json()) as { output: Output; error: string | null };
  };
  const run = async (params: object) => {
    const { output, error } = await post({ messages, params: { max_new_tokens: 250, ...params } });
    expect(error).toBeNull();
    return output;
  };
  try {
    await server.ready();
    const asked = { sequence_bias, tools, tool_choice: 'required', parallel_tool_calls: false };
    const called = await run(asked);
    expect(called).toMatchObject({ reasoning_content: 'Hm.', content: null });
    expect(valid(JSON.parse(called.tool_calls![0]!.function.arguments))).toBe(true);
    const text = { sequence_bias, json_schema: parameters };
    const { reasoning_content, content } = await run({ ...text, parse_response: true });
    expect([reasoning_content, valid(JSON.parse(content!))]).toEqual(['Hm.', true]);
    const beams = { messages, params: { ...asked, num_beams: 2 } };
    expect(await post(beams)).toMatchObject({
      error: 'params.num_beams: does not go with params.tool_choice',
    });
    // Whoever asks for the whole text gets all of it in the format.
    expect(valid(JSON.parse((await run({ json_schema: parameters })).content!))).toBe(true);
    const either = await run({ ...text, parse_response: true, tools });
    expect(either.tool_calls ? true : valid(JSON.parse(either.content!))).toBe(true);
  } finally {
    await server.stop();
  }
});

const JSON_BODY = { 'content-type': 'application/json' };

interface Output {
  content: string | null;
  reasoning_content?: string;
  tool_calls?: { function: { name: string; arguments: string } }[];
}
