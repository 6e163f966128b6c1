import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GenerateOptions } from '../../../../../runtime/core/handles/index.js';
import { createLogitsProcessors } from '../../../../../runtime/engines/generation/search/create-logits-processors.js';
import { settingsOf } from '../support.js';

interface Fixture {
  eos: number[];
  ids: number[];
  prompt: number;
  source: number[];
  processors: { name: string; request: GenerateOptions; scores: number[]; expect: (number | null)[] }[];
}

// scripts/fixtures/generation_cases.py wrote this with transformers 4.57.6.
const file = join(import.meta.dirname, '../../../../fixtures/generation.json');
const { eos, ids, prompt, source, processors } = JSON.parse(await readFile(file, 'utf8')) as Fixture;

function process(request: GenerateOptions, scores: number[], sequence = ids): Float32Array {
  const row = Float32Array.from(scores);
  const settings = settingsOf({ eos_token_id: eos, ...request }, { promptLength: prompt, source });
  for (const one of createLogitsProcessors(settings)) one(row, sequence, 0);
  return row;
}

test.each(processors)('$name as in Python', ({ request, scores, expect: expected }) => {
  const got = process(request, scores);
  expected.forEach((value, id) => {
    if (value === null) expect(got[id]).toBe(-Infinity);
    else expect(got[id]).toBeCloseTo(value, 5);
  });
});

test('presence and frequency count generated tokens only', () => {
  const got = process({ presence_penalty: 0.5, frequency_penalty: 0.25 }, new Array<number>(24).fill(1));
  // Generated: 7, 11, 4, 3, 7; token 9 stands in the prompt only.
  expect([got[7], got[11], got[9]]).toEqual([0, 0.25, 1]);
});

test('tokens beyond the vocabulary are no harm', () => {
  expect(process({ bad_words_ids: [[99]], suppress_tokens: [99] }, [1, 2]).length).toBe(2);
});

test('logit_bias adds to single tokens, besides sequence_bias', () => {
  const got = process(
    { logit_bias: { 3: 2.5, 4: -100 }, sequence_bias: [[[3], 1]] },
    new Array<number>(24).fill(1),
  );
  expect([got[3], got[4], got[5]]).toEqual([4.5, -99, 1]);
});

describe('a step costs what is new in it', () => {
  const long = 200_000;
  const fiveSteps = (request: GenerateOptions, sequence: number[]) => {
    const settings = settingsOf(request, { promptLength: sequence.length, source: sequence });
    const all = createLogitsProcessors(settings);
    const scores = new Float32Array(100);
    for (let step = 0; step < 5; step++) for (const one of all) one(scores, sequence, 0);
    return scores;
  };
  const same = new Array<number>(long).fill(1);

  test.each<[string, GenerateOptions]>([
    ['n-grams that almost match everywhere', { no_repeat_ngram_size: long / 2 }],
    ['n-grams of the source', { encoder_no_repeat_ngram_size: long / 2 }],
    ['a repetition penalty over a long prompt', { repetition_penalty: 1.2, encoder_repetition_penalty: 1.2 }],
    ['many bad words', { bad_words_ids: Array.from({ length: 100_000 }, (_, i) => [i + 5, i + 6, 7]) }],
    ['long bad words', { bad_words_ids: [same.slice(0, long / 2), [...same.slice(0, long / 2), 3]] }],
  ])(
    'with %s',
    (_name, request) => {
      // Looking everything up anew would run into this time limit.
      expect(fiveSteps(request, same).some((score) => score === 0)).toBe(true);
    },
    5000,
  );
});

test('remove_invalid_values leaves finite scores, and 0 for what is no number', () => {
  // torch.nan_to_num of transformers' InfNanRemoveLogitsProcessor
  const most = 3.4028234663852886e38;
  const got = process({ remove_invalid_values: true }, [Number.NaN, Infinity, -Infinity, 1.5]);
  expect([...got]).toEqual([0, most, -most, 1.5]);
});
