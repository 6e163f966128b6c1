import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GenerateOptions } from '../../../../runtime/core/handles.js';
import { createSampler, createUniform, warp } from '../../../../runtime/engines/generation/sampling.js';
import { settingsOf } from './support.js';

interface Fixture {
  warpers: { request: GenerateOptions; scores: number[]; expect: number[] }[];
}

const file = join(import.meta.dirname, '../../../fixtures/generation.json');
const { warpers } = JSON.parse(await readFile(file, 'utf8')) as Fixture;
const named = warpers.map((one, i) => ({ ...one, name: `${i}: ${JSON.stringify(one.request)}` }));

/** Probability of each token that may be drawn. */
function probabilities(request: GenerateOptions, scores: number[], least?: number): number[] {
  const kept = warp(Float32Array.from(scores), settingsOf({ do_sample: true, ...request }), least);
  const weights = kept.scores.map((score) => Math.exp(score - kept.scores[0]!));
  const sum = weights.reduce((a, b) => a + b, 0);
  const all = new Array<number>(scores.length).fill(0);
  kept.ids.forEach((id, i) => (all[id] = weights[i]! / sum));
  return all;
}

describe('warp', () => {
  test.each(named)('$name leaves what Python leaves', ({ request, scores, expect: expected }) => {
    const got = probabilities(request, scores);
    expect(got.map((p) => p > 0)).toEqual(expected.map((p) => p > 0));
    got.forEach((p, id) => expect(p).toBeCloseTo(expected[id]!, 5));
  });

  test('keeps at least as many as it is told to', () => {
    const got = probabilities({ top_p: 0.01, top_k: 1 }, [5, 4, 3, 2, 1], 3);
    expect(got.filter((p) => p > 0).length).toBe(3);
  });
});

describe('createSampler', () => {
  const scores = [2, 1.5, 1, 0.5, 0, -0.5, -1, -6];
  const draws = (seed: number, count: number, request: GenerateOptions = {}) => {
    const sample = createSampler(settingsOf({ do_sample: true, seed, top_k: 0, ...request }));
    return Array.from({ length: count }, () => sample(Float32Array.from(scores)));
  };

  test('draws with the probabilities that the scores stand for (chi-square)', () => {
    const count = 20_000;
    const expected = probabilities({ temperature: 1.3, top_k: 6 }, scores);
    const seen = new Array<number>(scores.length).fill(0);
    for (const id of draws(7, count, { temperature: 1.3, top_k: 6 })) seen[id]!++;
    expect(seen.slice(6)).toEqual([0, 0]);
    const chi = expected
      .slice(0, 6)
      .reduce((sum, p, id) => sum + (seen[id]! - p * count) ** 2 / (p * count), 0);
    // 99.9 % quantile with 5 degrees of freedom.
    expect(chi).toBeLessThan(20.5);
  });

  test('a seed gives the same draws again, another one others', () => {
    expect(draws(1, 50)).toEqual(draws(1, 50));
    expect(draws(1, 50)).not.toEqual(draws(2, 50));
    expect(draws(2 ** 40, 50)).not.toEqual(draws(0, 50));
  });

  test.each([{ temperature: 0 }, { do_sample: false }])('%j takes the first of the best', (request) => {
    const sample = createSampler(settingsOf({ do_sample: true, ...request }));
    expect(sample(Float32Array.from([0, 3, 3, 1]))).toBe(1);
  });

  test('never draws what a processor has banned', () => {
    const sample = createSampler(settingsOf({ do_sample: true, seed: 3, top_k: 0 }));
    const row = () => Float32Array.from([-Infinity, 0, -Infinity]);
    expect(Array.from({ length: 100 }, () => sample(row())).every((id) => id === 1)).toBe(true);
  });
});

test('uniform numbers fill [0, 1) evenly', () => {
  const uniform = createUniform({ seed: 11 });
  const bins = new Array<number>(10).fill(0);
  for (let i = 0; i < 10_000; i++) bins[Math.floor(uniform() * 10)]!++;
  for (const count of bins) expect(Math.abs(count - 1000)).toBeLessThan(150);
});
