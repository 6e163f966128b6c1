import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GenerateOptions } from '../../../../../runtime/core/handles/index.js';
import { beamSearch } from '../../../../../runtime/engines/generation/search/beam-search.js';
import { createLogitsProcessors } from '../../../../../runtime/engines/generation/search/create-logits-processors.js';
import { createRandom } from '../../../../../runtime/engines/generation/search/random.js';
import { bigram, settingsOf } from '../support.js';

interface Fixture {
  beams: {
    prompt: number[];
    /** Scores of the next token by the last one, row after row. */
    tables: number[][];
    cases: { table: number; request: GenerateOptions; expect: number[] }[];
  };
}

const VOCABULARY = 12;
const file = join(import.meta.dirname, '../../../../fixtures/generation.json');
const { prompt, tables, cases } = (JSON.parse(await readFile(file, 'utf8')) as Fixture).beams;

const row = (table: number[], id: number) =>
  Float32Array.from(table.slice(id * VOCABULARY, (id + 1) * VOCABULARY));

async function search(
  request: GenerateOptions,
  table: number[],
  interrupted = () => false,
): Promise<number[]> {
  const settings = settingsOf(request, { promptLength: prompt.length });
  const found = await beamSearch({
    ...{ prompt, settings, interrupted },
    scores: Array.from({ length: settings.numBeams }, () => row(table, prompt.at(-1)!)),
    decoding: bigram(table, VOCABULARY),
    processors: createLogitsProcessors(settings),
    random: settings.doSample ? createRandom(settings) : undefined,
  });
  return found[0]!.ids;
}

test.each(cases.map((one, i) => ({ ...one, name: `${i}: ${JSON.stringify(one.request)}` })))(
  '$name finds what Python finds',
  async ({ table, request, expect: expected }) => {
    expect(await search(request, tables[table]!)).toEqual(expected);
  },
);

test('ends with what there is when it is interrupted', async () => {
  let steps = 0;
  const ids = await search({ num_beams: 2, max_new_tokens: 50 }, tables[2]!, () => ++steps === 3);
  expect(ids).toHaveLength(3);
});

test('drawn beams depend on the seed alone', async () => {
  const drawn = (seed: number) =>
    search({ num_beams: 3, do_sample: true, seed, max_new_tokens: 12, temperature: 3 }, tables[2]!);
  expect(await drawn(4)).toEqual(await drawn(4));
  const many = await Promise.all(Array.from({ length: 10 }, (_, seed) => drawn(seed)));
  expect(new Set(many.map(String)).size).toBeGreaterThan(3);
});
