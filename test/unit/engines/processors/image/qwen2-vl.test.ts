import { createPatchProcessor, smartSize } from '../../../../../runtime/engines/processors/image/qwen2-vl.js';

/** Numbers of transformers' smart_resize and Qwen2VLImageProcessor. */

const SMALL = { factor: 16, least: 1024, most: 5120 };
const USUAL = { factor: 28, least: 3136, most: 1003520 };

test.each([
  [48, 61, SMALL, 48, 64],
  [40, 72, SMALL, 32, 64],
  [20, 20, SMALL, 32, 32],
  [1000, 750, USUAL, 1008, 756],
  [5000, 30, USUAL, 5012, 28],
])('%d x %d becomes as large as in Python', (height, width, limits, rows, columns) => {
  expect(smartSize({ height, width }, limits)).toEqual({ height: rows, width: columns });
});

test('a strip is refused', () => {
  expect(() => smartSize({ height: 10, width: 2001 }, USUAL)).toThrow(/over 200 times/);
});

test('patches lie block by block, each with its channels, frames and rows', () => {
  const { process, mergeSize } = createPatchProcessor({
    ...{ patch_size: 2, merge_size: 2, temporal_patch_size: 2, min_pixels: 1, max_pixels: 10_000 },
    ...{ do_resize: false, do_rescale: false, do_normalize: false },
  });
  const data = Uint8Array.from({ length: 4 * 8 * 3 }, (_, i) => i);
  const { values, grid } = process({ data, width: 8, height: 4, channels: 3 });
  expect([grid, mergeSize]).toEqual([[1, 2, 4], 2]);
  const patch = (i: number) => [...values.subarray(i * 24, (i + 1) * 24)];
  expect(patch(3)).toEqual([
    ...[54, 57, 78, 81, 54, 57, 78, 81, 55, 58, 79, 82],
    ...[55, 58, 79, 82, 56, 59, 80, 83, 56, 59, 80, 83],
  ]);
  expect(patch(4)).toEqual([
    ...[12, 15, 36, 39, 12, 15, 36, 39, 13, 16, 37, 40],
    ...[13, 16, 37, 40, 14, 17, 38, 41, 14, 17, 38, 41],
  ]);
});

/** Sums and first numbers of Qwen2VLImageProcessorFast; its slow twin's differ by one in every fifth. */
test.each([
  [13, 19, 37, 23978, [106, 137, 153, 127, 124, 108, 121, 112]],
  [9, 30, 77, 24009, [93, 134, 142, 113, 103, 84, 142, 177]],
])('%d x %d becomes the bytes that torch makes of it', (width, height, factor, sum, first) => {
  const { process } = createPatchProcessor({
    ...{ patch_size: 2, merge_size: 2, temporal_patch_size: 1, min_pixels: 64, max_pixels: 96 },
    ...{ do_rescale: false, do_normalize: false },
  });
  const data = Uint8Array.from({ length: width * height * 3 }, (_, i) => (i * factor) % 251);
  const { values } = process({ data, width, height, channels: 3 });
  expect([...values.subarray(0, 8)]).toEqual(first);
  expect(values.reduce((all, value) => all + value, 0)).toBe(sum);
});
