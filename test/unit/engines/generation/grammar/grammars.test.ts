import { jest } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { GenerateOptions } from '../../../../../runtime/core/handles/index.js';
import type { Decoding } from '../../../../../runtime/engines/generation/decoding/decoder.js';
import {
  generateFromPrompt,
  type PromptModel,
} from '../../../../../runtime/engines/generation/generate-from-prompt.js';
import { createGrammars } from '../../../../../runtime/engines/generation/grammar/grammars.js';
import { GrammarState } from '../../../../../runtime/engines/generation/grammar/llguidance/instance.js';
import type { TextTokenizer } from '../../../../../runtime/engines/tokenizers/tokenizer.js';
import { answersOf } from '../support.js';

/** A token for each byte, one of two bytes, one that leaves no text and the end. */
const PAIR = 256;
const SILENT = 257;
const END = 258;
const bytesOf = (id: number) => (id === PAIR ? [0x7b, 0x22] : id > PAIR ? [] : [id]);
const tokenizer = {
  decode: (ids: readonly number[]) => Buffer.from(ids.flatMap(bytesOf)).toString(),
  openBytes: () => 0,
  tokenOf: (id: number) => `token ${id}`,
  specialText: (id: number) => (id === SILENT ? '<silent>' : undefined),
  ...{ bytesOf, idLimit: 258, marksSubwords: false, config: {} },
} as unknown as TextTokenizer;

/** Random scores, the same for the same seed; ends of texts and lists are likelier. */
function randomScores(seed: number): () => Float32Array {
  let state = seed * 7919 + 1;
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  // Ids beyond the tokens, too, as graphs whose vocabulary is padded have them.
  return () => {
    const scores = Float32Array.from({ length: 264 }, () => random() * 4);
    for (const id of [0x22, 0x5d, 0x7d, END]) scores[id]! += 2;
    return scores;
  };
}

function modelOf(seed: number, repository: Record<string, unknown> = { eos_token_id: END }) {
  const scores = randomScores(seed);
  const decoding: Decoding = {
    prefill: async () => scores(),
    step: async (tokens) => tokens.map(scores),
    ...{ reorder: () => {}, end: () => {} },
  };
  const decoder = { start: async () => decoding } as unknown as PromptModel['decoder'];
  const limits = { contextLength: undefined, hardLimit: false };
  return { decoder, tokenizer, grammars, repository, ...limits };
}

const grammars = createGrammars(tokenizer);

function write(options: GenerateOptions, model: PromptModel = modelOf(1)) {
  const { signal } = new AbortController();
  return generateFromPrompt(model, { prompt: { tokens: [65] }, options, decodesAlone: true, signal });
}

const SCHEMAS = [
  { type: 'object', properties: { a: { type: 'integer', maximum: 999, minimum: 0 } }, required: ['a'] },
  { type: 'array', items: { enum: ['é"', 2, null, [true]] }, minItems: 1, maxItems: 4 },
  {
    type: 'object',
    properties: { pattern: { type: 'string', pattern: '^[a-c]{2,4}$' } },
    required: ['pattern'],
    additionalProperties: false,
  },
];

const WAYS: [string, GenerateOptions][] = [
  ['greedy', {}],
  ['sampled', { do_sample: true, seed: 1, top_k: 0 }],
  ['sampled among a few', { do_sample: true, seed: 1, top_k: 5, top_p: 0.9 }],
  ['four rows', { do_sample: true, seed: 1, num_return_sequences: 4 }],
];

describe.each(WAYS)('%s', (_, way) => {
  test.each(SCHEMAS)('what ends under %j is valid', async (json_schema) => {
    const valid = new Ajv2020({ strict: false }).compile(json_schema);
    let ended = 0;
    for (let seed = 1; seed <= 12; seed++) {
      const options = { ...way, json_schema, max_new_tokens: 300 };
      for (const { text, finish } of await answersOf(write(options, modelOf(seed)))) {
        if (finish !== 'stop') continue;
        ended += 1;
        expect([text, valid(JSON.parse(text))]).toEqual([text, true]);
      }
    }
    expect(ended).toBeGreaterThanOrEqual(6);
  });
});

test.each<[GenerateOptions, RegExp]>([
  [{ choices: ['a|b', 'C:\\(x)', '-&~#'] }, /^(a\|b|C:\\\(x\)|-&~#)$/],
  [{ regex: '[a-c]{2}[0-9]{3}' }, /^[a-c]{2}\d{3}$/],
  [{ grammar: 'start: "yes" | %json {"type":"boolean"}' }, /^(yes|true|false)$/],
  [{ json_object: true }, /^\{.*\}$/s],
])('%j', async (options, expected) => {
  for (let seed = 1; seed <= 8; seed++) {
    const [answer] = await answersOf(write({ ...options, max_new_tokens: 400 }, modelOf(seed)));
    if (answer!.finish === 'stop') expect(answer!.text).toMatch(expected);
    else expect(options.json_object).toBe(true);
  }
});

test('a text that nothing may follow ends at once, without a token for it', async () => {
  const [answer] = await answersOf(write({ choices: ['abc'], max_new_tokens: 3 }));
  expect(answer).toMatchObject({ text: 'abc', tokensOut: 3, finish: 'stop' });
});

test('a rare token that other parameters have banned is an error, not another token', async () => {
  const banned = { choices: ['abc'], bad_words_ids: [[0x62]] };
  await expect(answersOf(write(banned))).rejects.toThrow('leave no token to draw');
});

const nested = (levels: number): object => (levels === 0 ? {} : { items: nested(levels - 1) });

test.each<[GenerateOptions, string]>([
  [{ regex: 'a', choices: ['b'] }, 'params.choices: contradicts params.regex'],
  [
    { json_schema: { $ref: '#' } },
    'params.json_schema: no text fits it; a rule may refer to nothing but itself',
  ],
  [{ json_schema: { not: {} } }, 'params.json_schema: not is not supported'],
  [{ json_schema: { items: { 'x-guidance': {} } } }, 'params.json_schema: x-guidance is not supported'],
  [{ json_schema: nested(70) as never }, 'params.json_schema: is nested deeper than 64 levels'],
  [{ json_schema: { enum: Array.from({ length: 2001 }, String) } }, 'more than 2000 values of enum'],
  [{ json_schema: { anyOf: Array.from({ length: 501 }, () => ({})) } }, 'has more than 500 objects'],
  [{ json_schema: { const: 'a'.repeat(65_536) } }, 'params.json_schema: is longer than 64 KiB'],
  [{ regex: '(' }, 'params.regex: at 1(8): invalid regex'],
  [{ grammar: 'start: %json @other' }, 'params.grammar: %json needs an object of JSON'],
  [{ grammar: 'start: %json {"x-guidance":{}}' }, 'params.grammar: %json: x-guidance is not supported'],
  [{ grammar: '%llguidance {}\nstart: "a"' }, 'params.grammar: %llguidance is not supported'],
  [{ grammar: '%import common.INT\nstart: INT' }, 'params.grammar: %import is not supported'],
  [{ grammar: 'start[temperature=0.5]: "a"' }, 'params.grammar: temperature= is not supported'],
  [{ regex: 'a', num_beams: 2 }, 'params.num_beams: does not go with params.regex'],
  [{ regex: 'a', guidance_scale: 2 }, 'params.guidance_scale: does not go with params.regex'],
  [{ regex: 'a', min_new_tokens: 2 }, 'params.min_new_tokens: does not go with params.regex'],
  [{ regex: 'a', min_length: 9 }, 'params.min_length: does not go with params.regex'],
  [{ regex: 'a', eos_token_id: 3 }, 'params.eos_token_id: does not go with params.regex'],
  [{ regex: 'a', suppress_tokens: [3] }, 'params.suppress_tokens: does not go with params.regex'],
])('%j is refused: %s', async (options, message) => {
  await expect(answersOf(write(options))).rejects.toThrow(message);
});

test('a model that names no end is refused', async () => {
  await expect(answersOf(write({ regex: 'a' }, modelOf(1, {})))).rejects.toThrow('names no token that ends');
});

test('what rows hold is given back when the caller leaves', async () => {
  const forked = jest.spyOn(GrammarState.prototype, 'fork');
  const released = jest.spyOn(GrammarState.prototype, 'release');
  const pieces = write({ regex: '[a-z]+', max_new_tokens: 50 });
  await pieces.next();
  await pieces.return([]);
  expect(forked).toHaveBeenCalled();
  expect(released).toHaveBeenCalledTimes(forked.mock.calls.length);
  jest.restoreAllMocks();
});

test('an instance that has trapped is not used again', async () => {
  const compiled = jest.spyOn(GrammarState.prototype, 'fork').mockImplementationOnce(() => {
    throw new WebAssembly.RuntimeError('unreachable');
  });
  await expect(answersOf(write({ choices: ['ab'] }))).rejects.toThrow('params.choices: is too much work');
  compiled.mockRestore();
  expect((await answersOf(write({ choices: ['ab'] })))[0]!.text).toBe('ab');
});

test('a format for which memory is too short is refused with numbers, before anything is opened', async () => {
  const within = (bytes: number): PromptModel => {
    const memory = { limit: process.memoryUsage.rss() + bytes, bodies: 0 };
    return { ...modelOf(1), grammars: createGrammars(tokenizer, memory) };
  };
  const first = (model: PromptModel) => write({ regex: 'a', max_new_tokens: 1 }, model).next();
  await expect(first(within(40e6))).rejects.toMatchObject({
    code: 'unprocessable',
    message: expect.stringMatching(
      /^params\.regex: formats take \d+ MB of memory, and \d+ MB of \d+ MB are left: give the server more/,
    ),
  });
  await expect(first(within(1e9))).resolves.toBeDefined();
});
