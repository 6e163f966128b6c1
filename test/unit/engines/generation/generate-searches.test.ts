import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GenerateOptions } from '../../../../runtime/core/handles/index.js';
import { generate } from '../../../../runtime/engines/generation/generate.js';
import { answersOf, bigram, numberTokenizer, settingsOf } from './support.js';

interface Fixture {
  beams: { prompt: number[]; tables: number[][] };
  searches: { table: number; request: GenerateOptions; expect: number[][] }[];
}

const VOCABULARY = 12;
const file = join(import.meta.dirname, '../../../fixtures/generation.json');
const { beams, searches } = JSON.parse(await readFile(file, 'utf8')) as Fixture;
const { prompt, tables } = beams;

async function search(request: GenerateOptions, table: number[]): Promise<string[]> {
  const settings = settingsOf(request, { promptLength: prompt.length, source: prompt });
  const generation = generate({
    ...{ prompt: { tokens: prompt }, settings, tokenizer: numberTokenizer },
    signal: new AbortController().signal,
    start: async () => bigram(table, VOCABULARY),
  });
  return (await answersOf(generation)).map(({ text }) => text);
}

test.each(searches.map((one, i) => ({ ...one, name: `${i}: ${JSON.stringify(one.request)}` })))(
  '$name finds what Python finds',
  async ({ table, request, expect: expected }) => {
    const texts = expected.map((ids) => numberTokenizer.decode(ids));
    expect(await search(request, tables[table]!)).toEqual(texts);
  },
);

describe('several answers', () => {
  const drawn = (request: GenerateOptions) =>
    search({ do_sample: true, max_new_tokens: 12, temperature: 2, ...request }, tables[2]!);

  test('are drawn apart, and again in the same way from the same seed', async () => {
    const answers = await drawn({ seed: 4, num_return_sequences: 5 });
    expect(new Set(answers).size).toBe(5);
    expect(await drawn({ seed: 4, num_return_sequences: 5 })).toEqual(answers);
    expect(await drawn({ seed: 5, num_return_sequences: 5 })).not.toEqual(answers);
  });

  test('begin with the one that would have come alone', async () => {
    const [first] = await drawn({ seed: 9, num_return_sequences: 3 });
    expect([first]).toEqual(await drawn({ seed: 9 }));
  });

  test('end each on their own', async () => {
    const answers = await drawn({
      seed: 1,
      num_return_sequences: 8,
      eos_token_id: [2, 5, 7],
      max_new_tokens: 40,
    });
    expect(new Set(answers.map((text) => text.split(' ').length)).size).toBeGreaterThan(2);
    for (const text of answers) expect(text).toMatch(/^(?:(?!2 |5 |7 )\d+ )*(?:2|5|7) $/);
  });

  test.each([{ num_return_sequences: 2 }, { num_return_sequences: 3, num_beams: 2 }])(
    'that Python refuses are refused: %j',
    async (request) => {
      await expect(search(request, tables[0]!)).rejects.toMatchObject({
        code: 'unprocessable',
        message: expect.stringContaining('params.num_return_sequences'),
      });
    },
  );
});

describe('stop strings in beams', () => {
  test('end a beam where its text ends', async () => {
    const [text] = await search({ num_beams: 3, max_new_tokens: 30, stop: ['9 7', '11 '] }, tables[1]!);
    expect(text).not.toMatch(/9 7|11 /);
    expect(text!.length).toBeLessThan(30);
  });

  test('cost no more than the steps', async () => {
    // Decoding every beam anew with each step would run into this time limit.
    const [text] = await search({ num_beams: 8, max_new_tokens: 400, stop: ['never'] }, tables[2]!);
    expect(text).not.toBe('');
  }, 5000);
});

test.each<[string, GenerateOptions]>([
  ['sequence_bias', { sequence_bias: [[[4, 99], 1]] }],
  ['bad_words_ids', { bad_words_ids: [[12]] }],
  ['logit_bias', { logit_bias: { 1000: 1 } }],
  ['forced_bos_token_id', { forced_bos_token_id: 12 }],
  ['forced_eos_token_id', { forced_eos_token_id: [1, 12] }],
])('%s beyond the vocabulary is refused by name', async (name, request) => {
  await expect(search(request, tables[0]!)).rejects.toMatchObject({
    code: 'unprocessable',
    message: expect.stringContaining(`params.${name}: there is no token`),
  });
});
