import { createRandom } from '../../../../../runtime/engines/generation/search/random.js';

test('uniform numbers fill [0, 1) evenly', () => {
  const uniform = createRandom({ seed: 11 });
  const bins = new Array<number>(10).fill(0);
  for (let i = 0; i < 10_000; i++) bins[Math.floor(uniform() * 10)]!++;
  for (const count of bins) expect(Math.abs(count - 1000)).toBeLessThan(150);
});
