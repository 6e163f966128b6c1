import { sizesOf } from '../../../builder/plan/network/sizes.js';
import { largestWithin, promptBytes, runBytes } from '../../../runtime/core/run-memory.js';

const LLAMA = sizesOf({
  ...{ hidden_size: 768, intermediate_size: 2560, num_hidden_layers: 14, num_attention_heads: 12 },
  ...{ num_key_value_heads: 4, head_dim: 64, vocab_size: 16384 },
});
const PER_TOKEN = 2 * 14 * LLAMA.keys * 4;

/** What the arena grew by in megabytes, measured (docs/measurements.md). */
test.each([
  ['fp32', 256, 0, 29],
  ['fp32', 256, 1744, 142],
  ['fp32', 2000, 0, 557],
  ['q8', 256, 0, 92],
  ['q8', 1000, 0, 330],
  ['q8', 2000, 0, 766],
])(
  'a %s run of %d tokens behind %d others is reckoned at what was measured, or some more',
  (dtype, tokens, past, measured) => {
    const shape = { sizes: LLAMA, perToken: PER_TOKEN, chunk: tokens, integers: dtype === 'q8' };
    const megabytes = promptBytes(shape, tokens + past) / 1e6;
    expect(megabytes).toBeGreaterThan(measured * 0.9);
    expect(megabytes).toBeLessThan(measured * 2.2);
  },
);

test.each([
  [1, 512, 28],
  [4, 512, 121],
  [32, 32, 22],
  [64, 64, 107],
])('%d rows of %d tokens through an encoder of MiniLM size, too', (rows, length, measured) => {
  const sizes = sizesOf({ hidden_size: 384, intermediate_size: 1536, num_attention_heads: 12 });
  const megabytes = runBytes(sizes, { tokens: rows * length, attended: length }) / 1e6;
  expect(megabytes).toBeGreaterThan(measured);
  expect(megabytes).toBeLessThan(measured * 2.2);
});

test('the most that fits', () => {
  const square = (count: number) => count * count;
  expect(largestWithin(99, 1000, square)).toBe(9);
  expect(largestWithin(100, 1000, square)).toBe(10);
  expect(largestWithin(100, 7, square)).toBe(7);
  expect(largestWithin(1e9, Infinity, () => 5)).toBe(Infinity);
  expect(largestWithin(0, 10, () => 5)).toBe(0);
});
