import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { resizeLikePillow } from '../../../../../runtime/engines/processors/image/pillow-resize.js';

interface Case {
  width: number;
  height: number;
  toWidth: number;
  toHeight: number;
  resample: number;
  data: number[];
  expected: number[];
}

const fixture = join(import.meta.dirname, '../../../../fixtures/pillow-resize.json');
const cases = JSON.parse(readFileSync(fixture, 'utf8')) as Case[];

/** Fixture: scripts/fixtures/pillow_resize.py, made with Pillow itself. */
describe('resizing gives the bytes that Pillow gives', () => {
  test.each(cases)('$width x $height -> $toWidth x $toHeight, filter $resample', (row) => {
    const image = { data: Uint8Array.from(row.data), width: row.width, height: row.height, channels: 3 };
    const resized = resizeLikePillow(image, row.toWidth, row.toHeight, row.resample);
    expect(Array.from(resized.data)).toEqual(row.expected);
  });

  test.each(cases)('one channel of $width x $height -> $toWidth x $toHeight, filter $resample', (row) => {
    const green = (values: number[]) => values.filter((_, i) => i % 3 === 1);
    const { width, height } = row;
    const image = { data: Uint8Array.from(green(row.data)), width, height, channels: 1 };
    const resized = resizeLikePillow(image, row.toWidth, row.toHeight, row.resample);
    expect(Array.from(resized.data)).toEqual(green(row.expected));
  });

  test('an unknown filter is refused', () => {
    const image = { data: new Uint8Array(12), width: 2, height: 2, channels: 3 };
    expect(() => resizeLikePillow(image, 1, 1, 9)).toThrow(RangeError);
  });
});
