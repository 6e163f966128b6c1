import type { Pooling } from '../../../../../../runtime/core/handles/index.js';
import {
  type HiddenStates,
  POOL,
  applyPoolings,
  normalizeVector,
} from '../../../../../../runtime/engines/encoders/text/embedder/pooling.js';

/** Three tokens of width two. */
const states = (from = 0): HiddenStates => ({
  ...{ values: Float32Array.from([1, -2, 3, 4, 8, -6]), tokens: 3, width: 2, from },
});

test.each<[Pooling, number[], number[]]>([
  ['mean', [4, -4 / 3], [5.5, -1]],
  ['cls', [1, -2], [3, 4]],
  ['lasttoken', [8, -6], [8, -6]],
  ['max', [8, 4], [8, 4]],
  // Weights 1, 2, 3 by position, also where a prompt is left out.
  ['weightedmean', [31 / 6, -2], [6, -2]],
  ['mean_sqrt_len_tokens', [12 / Math.sqrt(3), -4 / Math.sqrt(3)], [11 / Math.SQRT2, -2 / Math.SQRT2]],
])('%s, without and with a prompt left out', (kind, whole, withoutPrompt) => {
  expect(Array.from(POOL[kind](states()))).toEqual(whole.map((value) => expect.closeTo(value, 5)));
  expect(Array.from(POOL[kind](states(1)))).toEqual(withoutPrompt.map((value) => expect.closeTo(value, 5)));
});

test('several poolings stand side by side in the order asked for', () => {
  expect(Array.from(applyPoolings(states(), ['lasttoken', 'cls']))).toEqual([8, -6, 1, -2]);
});

test('a prompt that fills the whole input leaves no NaN', () => {
  expect(Array.from(POOL.cls(states(3)))).toEqual([1, -2]);
  expect(Array.from(POOL.mean(states(3)))).toEqual([0, 0]);
});

test('unit length, and zero stays zero', () => {
  expect(Array.from(normalizeVector(Float32Array.from([3, 4])))).toEqual([
    expect.closeTo(0.6),
    expect.closeTo(0.8),
  ]);
  expect(Array.from(normalizeVector(new Float32Array(2)))).toEqual([0, 0]);
});
