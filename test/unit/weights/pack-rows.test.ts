import { bytesOf, floatsOf, packNarrowRows, packRows } from '../../../runtime/weights/index.js';

/** What MatMulNBits and GatherBlockQuantized read out of it. */
function unpack({ data, scales }: ReturnType<typeof packRows>, bits: 4 | 8, block: number): number[] {
  const codes = bits === 8 ? [...data] : [...data].flatMap((pair) => [pair & 15, pair >> 4]);
  return codes.map((code, i) => (code - 2 ** (bits - 1)) * scales[Math.floor(i / block)]!);
}

const values = Float32Array.from({ length: 128 }, (_, i) => Math.sin(i * 1.7) * (1 + (i % 7)) - 0.3);

test.each([
  [8, 1 / 127],
  [4, 1 / 7],
] as const)('numbers of %i bits are within half a step of what they were', (bits, step) => {
  const found = unpack(packRows(values, { bits, columns: 64, block: 32 }), bits, 32);
  for (let block = 0; block < 4; block++) {
    const part = values.subarray(block * 32, block * 32 + 32);
    const most = part.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
    part.forEach((value, i) => expect(Math.abs(value - found[block * 32 + i]!)).toBeLessThan(most * step));
  }
});

test('the number farthest from zero is exact, of either sign', () => {
  for (const sign of [1, -1]) {
    const row = new Float32Array(32).fill(0.25 * sign);
    row[5] = -2 * sign;
    expect(unpack(packRows(row, { bits: 4, columns: 32, block: 32 }), 4, 32)[5]).toBe(-2 * sign);
  }
});

test('zeros stay zeros', () => {
  const packed = packRows(new Float32Array(32), { bits: 8, columns: 32, block: 32 });
  expect(unpack(packed, 8, 32).every((value) => value === 0)).toBe(true);
});

test.each([4, 8] as const)('the last block of a row is filled up with zeros, of %i bits', (bits) => {
  const columns = 40;
  const rows = values.subarray(0, 2 * columns);
  const packed = packRows(rows, { bits, columns, block: 32 });
  expect(packed.scales).toHaveLength(4);
  const found = unpack(packed, bits, 32);
  expect(found).toHaveLength(128);
  for (const row of [0, 1]) {
    const own = found.slice(row * 64, row * 64 + 64);
    expect(own.slice(columns).every((value) => value === 0)).toBe(true);
    const alone = packRows(rows.subarray(row * columns, row * columns + 32), {
      bits,
      columns: 32,
      block: 32,
    });
    expect(own.slice(0, 32)).toEqual(unpack(alone, bits, 32));
  }
});

test('stored floats of every type are read', () => {
  const bytes = (...words: number[]) => new Uint8Array(Uint16Array.from(words).buffer);
  expect([...floatsOf(bytes(0x3c00, 0xc000, 0x0001), 'F16')]).toEqual([1, -2, 2 ** -24]);
  expect([...floatsOf(bytes(0x3f80, 0xc000), 'BF16')]).toEqual([1, -2]);
  expect([...floatsOf(new Uint8Array(Float32Array.of(1.5, -3).buffer), 'F32')]).toEqual([1.5, -3]);
  expect([...floatsOf(new Uint8Array(Float64Array.of(0.1).buffer), 'F64')]).toEqual([Math.fround(0.1)]);
  expect(() => floatsOf(new Uint8Array(4), 'I64')).toThrow(/no type of floats/);
});

test('floats are stored as the nearest of every type, ties to even', () => {
  const words = (values: number[], type: string) => [
    ...new Uint16Array(bytesOf(Float32Array.from(values), type).slice().buffer),
  ];
  // One step of bfloat16 at 1 is 2^-7: halves of a step go to the even neighbour.
  const halves = [1 + 2 ** -8, 1 + 3 * 2 ** -8, 1 + 2 ** -8 + 2 ** -20, -(1 + 2 ** -8)];
  expect(words(halves, 'BF16')).toEqual([0x3f80, 0x3f82, 0x3f81, 0xbf80]);
  expect(words([3.4e38, Infinity, NaN, -0], 'BF16')).toEqual([0x7f80, 0x7f80, 0x7fc0, 0x8000]);
  expect(words([1, 1 + 2 ** -11, 70_000], 'F16')).toEqual([0x3c00, 0x3c00, 0x7c00]);
  expect([...floatsOf(bytesOf(Float32Array.of(0.1, -7), 'F32'), 'F32')]).toEqual([Math.fround(0.1), -7]);
  expect(() => bytesOf(new Float32Array(1), 'I64')).toThrow(/no type that floats are stored as/);
});

describe("scales of eight bits, as parts of their row's", () => {
  const columns = 96;
  const rows = Float32Array.from({ length: 4 * columns }, (_, i) => Math.sin(i * 1.3) * (1 + (i % 5)) + 0.8);

  /** What MatMulNBits and GatherBlockQuantized read out of it, once a graph has multiplied scales. */
  function read(values: Float32Array, packing: { bits: 4 | 8; columns: number; block: number }): number[] {
    const { data, scales, rowScales, zeros } = packNarrowRows(values, packing);
    const { bits, block } = packing;
    const blocks = Math.ceil(packing.columns / block);
    const ofRows = floatsOf(new Uint8Array(rowScales.buffer), 'BF16');
    const codes = bits === 8 ? [...data] : [...data].flatMap((pair) => [pair & 15, pair >> 4]);
    return codes.map((code, i) => {
      const at = Math.floor(i / block);
      const [row, place] = [Math.floor(at / blocks), at % blocks];
      const pair = zeros?.[row * Math.ceil(blocks / 2) + (place >> 1)];
      const zero = pair === undefined ? 128 : (pair >> (4 * (place % 2))) & 15;
      return (code - zero) * Math.fround(scales[at]! * ofRows[row]!);
    });
  }

  const loss = (found: readonly number[], wanted: Float32Array = rows): number =>
    wanted.reduce((sum, value, i) => sum + (value - found[i]!) ** 2, 0);

  test('four bits lose a third less than with the zero in the middle', () => {
    const fitted = loss(read(rows, { bits: 4, columns, block: 32 }));
    const plain = loss(unpack(packRows(rows, { bits: 4, columns, block: 32 }), 4, 32));
    expect(fitted).toBeLessThan(0.67 * plain);
  });

  test.each([16, 32, 96])('eight bits are within a step of their block of %i', (block) => {
    const found = read(rows, { bits: 8, columns, block });
    rows.forEach((value, i) => {
      const start = Math.floor(i / block) * block;
      const most = Math.max(...rows.subarray(start, start + block).map(Math.abs));
      // Half a step of the block, whose scale is rounded up to a part of its row's.
      expect(Math.abs(value - found[i]!)).toBeLessThan((0.5 / 127) * (most + 8 / 255));
    });
  });

  test('sixteen values at equal distances lose next to nothing', () => {
    const even = Float32Array.from({ length: 32 }, (_, i) => 0.25 * ((i % 16) - 3));
    expect(loss(read(even, { bits: 4, columns: 32, block: 32 }), even)).toBeLessThan(1e-3);
  });

  test.each([4, 8] as const)(
    'zeros stay zeros, also those that a row is filled up with, of %i bits',
    (bits) => {
      const none = read(new Float32Array(32), { bits, columns: 32, block: 32 });
      expect(none.every((one) => one === 0)).toBe(true);
      const short = read(rows.subarray(0, 80), { bits, columns: 40, block: 32 });
      for (const row of [0, 1])
        expect(short.slice(row * 64 + 40, row * 64 + 64).every((one) => one === 0)).toBe(true);
    },
  );

  test.each([4, 8] as const)('small rows are packed as large ones are, of %i bits', (bits) => {
    const packing = { bits, columns, block: 32 };
    const small = rows.map((value) => value * 2 ** -80);
    expect(read(small, packing).map((value) => value * 2 ** 80)).toEqual(read(rows, packing));
  });

  test('a block beside much larger ones loses what a step of their scales is, at most', () => {
    const row = Float32Array.from({ length: 64 }, (_, i) => (i < 32 ? 100 : 1e-3) * Math.sin(i * 1.7));
    const found = read(row, { bits: 4, columns: 64, block: 32 });
    for (let i = 32; i < 64; i++) expect(Math.abs(row[i]! - found[i]!)).toBeLessThan(1e-3);
  });

  test('numbers of one sign, and one alone, are met', () => {
    for (const bits of [4, 8] as const)
      for (const sign of [1, -1]) {
        const row = new Float32Array(32);
        row[7] = 3 * sign;
        const found = read(row, { bits, columns: 32, block: 32 });
        expect(Math.abs(found[7]! - 3 * sign)).toBeLessThan(0.02);
        expect(found.every((value, i) => i === 7 || value === 0)).toBe(true);
      }
  });
});
