import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  GeneratedText,
  GenerateOptions,
  TextGenerator,
} from '../../../../runtime/core/handles/index.js';
import { loadLlamaTextGenerator } from '../../../../runtime/engines/llama/text-generator.js';
import { convertToGguf } from '../../../fakes/gguf/convert.js';
import { ggufRequest } from './support.js';

const CHAT = join(import.meta.dirname, '../../../fixtures/zoo-weights/chat/qwen2-f16-2shards');
const file = convertToGguf(join(CHAT, 'repo'), 'F32');
const never = new AbortController().signal;
setMaxListeners(0, never);

let handle: TextGenerator;
beforeAll(async () => {
  handle = await loadLlamaTextGenerator(ggufRequest(file));
});

async function written(
  text: string,
  options: GenerateOptions = {},
  { signal = never, from = handle }: { signal?: AbortSignal; from?: TextGenerator } = {},
): Promise<GeneratedText[]> {
  const answer = from.generate(text, { max_new_tokens: 12, ...options }, signal);
  for (;;) {
    const next = await answer.next();
    if (next.done) return next.value;
  }
}

const textOf = async (...given: Parameters<typeof written>) => (await written(...given))[0]!.text;

test('chats answer as transformers does, by the template of the file', async () => {
  const cases = JSON.parse(readFileSync(join(CHAT, 'cases.json'), 'utf8')) as {
    request: { messages: never[]; params: GenerateOptions };
    expect: { content: string };
  }[];
  expect(cases.length).toBeGreaterThan(2);
  for (const { request, expect: wanted } of cases) {
    const answer = handle.chat(request.messages, {}, request.params, never);
    let next = await answer.next();
    while (!next.done) next = await answer.next();
    expect(next.value[0]!.text).toBe(wanted.content);
  }
});

const PROMPTS = Array.from({ length: 8 }, (_, i) => `${'the quiet river '.repeat(i + 1)}number ${i}`);

test.each([4, 8])('%i texts in company are those that each is alone', async (count) => {
  const alone: string[] = [];
  for (const prompt of PROMPTS.slice(0, count)) alone.push(await textOf(prompt));
  const together = await Promise.all(PROMPTS.slice(0, count).map((prompt) => textOf(prompt)));
  expect(together).toEqual(alone);
});

test('a prompt that begins like a former one is read from where they part', async () => {
  const long = 'a river that flows to the sea '.repeat(6);
  const [first] = await written(`${long}and on`);
  const fresh = await loadLlamaTextGenerator(ggufRequest(file));
  expect(await textOf(`${long}and back`)).toBe(await textOf(`${long}and back`, {}, { from: fresh }));
  expect(await written(`${long}and on`)).toEqual([first]);
});

test('beams, several answers, and probabilities', async () => {
  const [beam] = await written(PROMPTS[0]!, { num_beams: 4 });
  expect(await textOf(PROMPTS[0]!, { num_beams: 4 })).toBe(beam!.text);
  expect(await written(PROMPTS[0]!, { num_return_sequences: 3, do_sample: true, seed: 7 })).toHaveLength(3);
  const [probable] = await written(PROMPTS[0]!, { logprobs: 2, prompt_logprobs: 1 });
  expect(probable!.logprobs!.content).toHaveLength(12);
  expect(probable!.promptLogprobs!.content.length).toBeGreaterThan(3);
});

test('stop strings, and text that has to follow a schema', async () => {
  const [whole] = await written(PROMPTS[1]!);
  const stop = whole!.text.slice(4, 7);
  expect(await textOf(PROMPTS[1]!, { stop })).toBe(whole!.text.slice(0, whole!.text.indexOf(stop)));
  const schema = {
    type: 'object',
    properties: { n: { type: 'integer' } },
    required: ['n'],
    additionalProperties: false,
  };
  const text = await textOf(PROMPTS[1]!, { json_schema: schema, max_new_tokens: 60 });
  expect(text).toMatch(/^\{\s*"n"\s*:/);
});

test('who leaves inside a prompt leaves nothing behind', async () => {
  const gone = new AbortController();
  const long = written('a harbour at night '.repeat(50), {}, { signal: gone.signal });
  const other = textOf(PROMPTS[2]!);
  setImmediate(() => gone.abort(new Error('left')));
  await expect(long).rejects.toThrow('left');
  expect(await other).toBe(await textOf(PROMPTS[2]!));
});

test('a prompt that is too long is refused with the context', async () => {
  await expect(written('the river '.repeat(300))).rejects.toThrow(/this model takes 512/);
});

test('more rows than there are are refused, and those before them answered', async () => {
  const many = Array.from({ length: 40 }, (_, i) =>
    textOf(PROMPTS[i % 8]!, { num_beams: 4, max_new_tokens: 4 }),
  );
  const settled = await Promise.all(many);
  expect(new Set(settled).size).toBeGreaterThan(1);
  await expect(written('a', { num_return_sequences: 65, do_sample: true })).rejects.toMatchObject({
    code: 'unprocessable',
  });
});

test('a memory that is too small is a refusal with numbers', async () => {
  const memory = { limit: 100 * 2 ** 20, bodies: 0 };
  await expect(
    loadLlamaTextGenerator(ggufRequest(file, { memory, llama: { contextLength: 2 ** 20 } })),
  ).rejects.toMatchObject({
    code: 'not_ready',
    message: expect.stringMatching(/takes \d+ MB .*CONTEXT_LENGTH/),
  });
});
