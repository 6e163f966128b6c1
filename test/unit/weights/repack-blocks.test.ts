import { repackBlocks } from '../../../runtime/weights/index.js';

const [ROWS, COLUMNS, GROUP] = [8, 32, 16];

/** Integers [rows, columns] of so many bits as GPTQ stores them: several of a column in a word. */
function wordsOf(values: number[][], bits: number): Uint32Array {
  const each = 32 / bits;
  const words = new Uint32Array((COLUMNS / each) * ROWS);
  values.forEach((row, r) =>
    row.forEach((value, c) => (words[Math.floor(c / each) * ROWS + r]! |= value << (bits * (c % each)))),
  );
  return words;
}

test.each([4, 8] as const)('columns of %i bits come to stand beside those of their group', (bits) => {
  const values = Array.from({ length: ROWS }, (_, r) =>
    Array.from({ length: COLUMNS }, (_, c) => (r * 7 + c * 5 + 3) % 2 ** bits),
  );
  // Even columns, then odd ones.
  const order = Uint32Array.from({ length: COLUMNS }, (_, i) => (i < GROUP ? 2 * i : 2 * (i - GROUP) + 1));
  const zeros = new Uint32Array((2 * ROWS * bits) / 32).fill(bits === 4 ? 0x77777777 : 0x7f7f7f7f);
  const scales = Float32Array.from({ length: 2 * ROWS }, (_, i) => i + 1);
  const stored = { words: wordsOf(values, bits), zeroWords: zeros, scales, order };
  const sizes = {
    rows: ROWS,
    columns: COLUMNS,
    bits,
    group: GROUP,
    block: 16,
    layout: 'gptq',
    zeroShift: 1,
  } as const;
  const made = repackBlocks(stored, sizes);
  const codes = bits === 8 ? [...made.data] : [...made.data].flatMap((pair) => [pair & 15, pair >> 4]);
  expect(codes).toEqual(values.flatMap((row) => [...order].map((column) => row[column])));
  expect(made.zeros.every((byte) => byte === (bits === 4 ? 0x88 : 0x80))).toBe(true);
  expect([...made.scales.subarray(0, 4)]).toEqual([1, ROWS + 1, 2, ROWS + 2]);
});
