import type { GenerateOptions } from '../../../../../runtime/core/handles/index.js';
import { createSampler } from '../../../../../runtime/engines/generation/search/sampling.js';
import { settingsOf } from '../support.js';
import { probabilities } from './support.js';

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
    // These are compared with Python's in warpers.test.ts.
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
