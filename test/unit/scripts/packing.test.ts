import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { normal, words } from '../../../scripts/packing/draws.mjs';
import { findDraw, streamOf } from '../../../scripts/packing/find-draws.mjs';
import { FIXTURES, split, turned } from '../../../scripts/packing/format.mjs';
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
