import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GenerateOptions } from '../../../../runtime/core/handles.js';
import { logitsProcessors } from '../../../../runtime/engines/generation/logits.js';
import { settingsOf } from './support.js';

interface Fixture {
  eos: number[];
  ids: number[];
  prompt: number;
  processors: { name: string; request: GenerateOptions; scores: number[]; expect: (number | null)[] }[];
}

// scripts/fixtures/generation_cases.py wrote this with transformers 4.57.6.
const file = join(import.meta.dirname, '../../../fixtures/generation.json');
const { eos, ids, prompt, processors } = JSON.parse(await readFile(file, 'utf8')) as Fixture;

function process(request: GenerateOptions, scores: number[], sequence = ids): Float32Array {
  const row = Float32Array.from(scores);
  const settings = settingsOf({ eos_token_id: eos, ...request }, { promptLength: prompt });
  for (const one of logitsProcessors(settings)) one(row, sequence);
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
