import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GenerateOptions } from '../../../../../runtime/core/handles/index.js';
import { createRandom } from '../../../../../runtime/engines/generation/search/random.js';
import { applyWarpers } from '../../../../../runtime/engines/generation/search/warpers.js';
import { settingsOf } from '../support.js';
import { probabilities } from './support.js';

interface Fixture {
  warpers: { request: GenerateOptions; scores: number[]; expect: number[] }[];
}

const file = join(import.meta.dirname, '../../../../fixtures/generation.json');
const { warpers } = JSON.parse(await readFile(file, 'utf8')) as Fixture;
const named = warpers.map((one, i) => ({ ...one, name: `${i}: ${JSON.stringify(one.request)}` }));

describe('applyWarpers', () => {
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
