import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { normal, words } from '../../../scripts/packing/draws.mjs';
import { findDraw, findHalfDraw, streamOf } from '../../../scripts/packing/find-draws.mjs';
import { FIXTURES, split, turned } from '../../../scripts/packing/format.mjs';
import { floatOf, halfOf } from '../../../scripts/packing/halves.mjs';
import { tensorsOf } from '../../../scripts/packing/tensors.mjs';

const ROWS = 24;
const COLUMNS = 10;
const START = 1000;
const SOURCE = streamOf(7, 4000);

/** Numbers of seed 7 from word 1000 on, times 0.25. */
const values = normal(SOURCE.stream, START, ROWS * COLUMNS).map((value) => value * 0.25);

test('words are those of the Mersenne Twister', () => {
  // The first ones and the ten thousandth of its authors' default seed, as C++ has it.
  const stream = words(5489, 10_000);
  expect([stream[0], stream[1], stream[9999]]).toEqual([3499211612, 581869302, 4123659995]);
});

test('a draw is found with its place and deviation, and a step that one number is off', () => {
  const off = values.slice();
  new Int32Array(off.buffer)[5]! += 3;
  const found = findDraw(SOURCE, off, [ROWS * COLUMNS])!;
  expect(found).toMatchObject({ seed: 7, start: START, deviation: 0.25, turn: undefined });
  expect([...found.steps].flatMap((step, i) => (step === 0 ? [] : [[i, step]]))).toEqual([[5, 3]]);
});

test('a matrix that was turned is found, too', () => {
  const found = findDraw(SOURCE, turned(values, ROWS, COLUMNS), [COLUMNS, ROWS])!;
  expect(found).toMatchObject({ seed: 7, start: START, deviation: 0.25, turn: [ROWS, COLUMNS] });
});

test('another seed, a mean or numbers that go astray are no draw', () => {
  expect(findDraw(streamOf(8, 4000), values, [values.length])).toBeUndefined();
  expect(
    findDraw(
      SOURCE,
      values.map((value) => value + 0.5),
      [values.length],
    ),
  ).toBeUndefined();
  expect(
    findDraw(
      SOURCE,
      values.map((value, i) => (i === 200 ? 1 : value)),
      [values.length],
    ),
  ).toBeUndefined();
});

test('planes of bytes', () => {
  expect([...split(Uint8Array.of(1, 2, 3, 4, 5, 6), 2)]).toEqual([1, 3, 5, 2, 4, 6]);
});

test.each([
  ['zoo/fill-mask/bert/repo/onnx/model.onnx', 4],
  ['zoo-weights/text-generation/gemma2-bf16/repo/model.safetensors', 2],
])('tensors of %s lie one after the other', (file, width) => {
  const content = readFileSync(join(FIXTURES, file));
  const places = tensorsOf(file, content);
  expect(places.length).toBeGreaterThan(5);
  let end = 0;
  for (const { at, bytes, dims, width: found } of places) {
    expect(at).toBeGreaterThanOrEqual(end);
    expect(found).toBe(width);
    expect(bytes).toBe(dims.reduce((a, b) => a * b, width));
    end = at + bytes;
  }
  expect(end).toBeLessThanOrEqual(content.length);
});

describe('numbers of 16 bits', () => {
  test('each has bits of its own, and is itself when it is rounded', () => {
    const finite = Array.from({ length: 2 ** 16 }, (_, bits) => bits).filter(
      (bits) => (bits >>> 10) % 32 !== 31,
    );
    expect(finite.filter((bits) => halfOf(floatOf(bits)) !== bits)).toEqual([]);
  });

  test.each([
    // Half way between two numbers: the even one; beyond: the nearer one.
    [1 + 2 ** -11, 0x3c00],
    [1 + 3 * 2 ** -11, 0x3c02],
    [1 + 2 ** -11 + 2 ** -20, 0x3c01],
    [-(2 ** -25), 0x8000],
    [3 * 2 ** -25, 0x0002],
    [2 ** -26, 0x0000],
    [65_519, 0x7bff],
    [65_520, 0x7c00],
    [1e9, 0x7c00],
  ])('%d is rounded to %d', (value, bits) => expect(halfOf(value)).toBe(bits));

  test('a draw is found that was rounded to them', () => {
    const halves = Uint16Array.from(values, halfOf);
    halves[20]! += 3;
    const found = findHalfDraw(SOURCE, halves, [ROWS * COLUMNS])!;
    expect(found).toMatchObject({ seed: 7, start: START, half: true });
    expect(found.steps[20]).toBeGreaterThanOrEqual(2);
    expect([...found.steps].filter((step) => Math.abs(step) > 1)).toHaveLength(1);
    expect(findHalfDraw(streamOf(8, 4000), halves, [halves.length])).toBeUndefined();
  });
});
