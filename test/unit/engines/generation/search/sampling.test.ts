import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GenerateOptions } from '../../../../../runtime/core/handles/index.js';
import {
  createSampler,
  createRandom,
  applyWarpers,
} from '../../../../../runtime/engines/generation/search/sampling.js';
import { settingsOf } from '../support.js';

interface Fixture {
  warpers: { request: GenerateOptions; scores: number[]; expect: number[] }[];
}

const file = join(import.meta.dirname, '../../../../fixtures/generation.json');
const { warpers } = JSON.parse(await readFile(file, 'utf8')) as Fixture;
const named = warpers.map((one, i) => ({ ...one, name: `${i}: ${JSON.stringify(one.request)}` }));

/** Probability of each token that may be drawn. */
function probabilities(request: GenerateOptions, scores: number[], least?: number): number[] {
  const kept = applyWarpers(Float32Array.from(scores), settingsOf({ do_sample: true, ...request }), least);
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

  describe('of a vocabulary of 200,000', () => {
    const uniform = createRandom({ seed: 1 });
    const many = Float32Array.from({ length: 200_000 }, () => Math.round((uniform() - 0.5) * 1e5) / 1e4);
    const order = Array.from(many.keys()).sort((a, b) => many[b]! - many[a]! || a - b);

    test.each<GenerateOptions>([
      { top_k: 50 },
      { top_k: 0 },
      { top_k: 0, min_p: 0.1 },
      { top_k: 0, typical_p: 0.9 },
    ])('%j leaves what sorting by hand leaves', (request) => {
      const { ids } = applyWarpers(many.slice(), settingsOf({ do_sample: true, ...request }));
      expect(ids.slice(0, 50)).toEqual(order.slice(0, ids.length).slice(0, 50));
      if (request.top_k !== 0 || Object.keys(request).length > 1) return;
      expect(ids).toHaveLength(order.length);
      expect(ids.findIndex((id, i) => id !== order[i])).toBe(-1);
    });
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

  /** 99.99 % quantiles of chi-square by degrees of freedom. */
  const QUANTILES = [0, 15.1, 18.4, 21.1, 23.5, 25.7, 27.9, 29.9];

  test.each<GenerateOptions>([
    { temperature: 1.3, top_k: 6 },
    { temperature: 0.4 },
    { temperature: 3 },
    { top_k: 3 },
    { top_p: 0.7 },
    { min_p: 0.2 },
    { typical_p: 0.6 },
    { epsilon_cutoff: 0.08 },
    { eta_cutoff: 0.3 },
    { temperature: 1.5, top_k: 7, top_p: 0.95, min_p: 0.05 },
  ])('%j draws with the probabilities that Python leaves (chi-square)', (request) => {
    const count = 10_000;
    // These are compared with Python's above.
    const expected = probabilities({ top_k: 0, ...request }, scores);
    const seen = new Array<number>(scores.length).fill(0);
    for (const id of draws(7, count, request)) seen[id]!++;
    // Rare tokens are counted together.
    const possible = expected.flatMap((p, id) => (p * count >= 10 ? [id] : []));
    expected.forEach((p, id) => p === 0 && expect(seen[id]).toBe(0));
    const rest = (from: number[]) => from.reduce((sum, n, id) => sum + (possible.includes(id) ? 0 : n), 0);
    expect(rest(seen)).toBeLessThan(rest(expected) * count + 15);
    const chi = possible.reduce(
      (sum, id) => sum + (seen[id]! - expected[id]! * count) ** 2 / (expected[id]! * count),
      0,
    );
    expect(chi).toBeLessThan(QUANTILES[possible.length - 1] || 1e-9);
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
  const uniform = createRandom({ seed: 11 });
  const bins = new Array<number>(10).fill(0);
  for (let i = 0; i < 10_000; i++) bins[Math.floor(uniform() * 10)]!++;
  for (const count of bins) expect(Math.abs(count - 1000)).toBeLessThan(150);
});
