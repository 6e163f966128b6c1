import { createSliceProcessor } from '../../../../../runtime/engines/processors/image/minicpm.js';
import { roundedLog } from '../../../../../runtime/engines/processors/image/rounded-log.js';
import { boundaries, pair } from '../../../../../runtime/models/multimodal/minicpm-v/vision.js';

const USUAL = 'MiniCPMV4_6ImageProcessor';
const slices = (config: object = {}, usual = USUAL) => createSliceProcessor(config as never, usual);

// As MiniCPMV4_6ImageProcessor of transformers 5.24 has them.
test.each([
  [{ height: 448, width: 448 }, { height: 448, width: 448 }, undefined],
  [{ height: 600, width: 300 }, { height: 616, width: 336 }, undefined],
  [
    { height: 448, width: 1792 },
    { height: 224, width: 896 },
    { rows: 1, columns: 4, height: 448, width: 448 },
  ],
  [
    { height: 3000, width: 500 },
    { height: 1120, width: 168 },
    { rows: 7, columns: 1, height: 392, width: 504 },
  ],
  // Three lines of two are as near as two lines of three.
  [
    { height: 1344, width: 896 },
    { height: 560, width: 392 },
    { rows: 3, columns: 2, height: 448, width: 448 },
  ],
  [
    { height: 2688, width: 1344 },
    { height: 616, width: 336 },
    { rows: 4, columns: 2, height: 448, width: 448 },
  ],
])('%j is read whole, and in slices', (size, whole, parts) => {
  const found = slices().partsOf(size);
  const { rows, columns, edges } = found.slices ?? {};
  expect(found.whole).toEqual(whole);
  expect(found.slices && { rows, columns, ...edges }).toEqual(parts);
});

test('images stay whole where the processor cuts none', () => {
  expect(slices({ slice_mode: false }).partsOf({ height: 3000, width: 500 }).slices).toBeUndefined();
});

test('small images stay small where the processor says so', () => {
  const size = { height: 60, width: 30 };
  const usual = 'MiniCPMOcrImageProcessor';
  expect(slices({ small_image_upsize: 'never' }, usual).partsOf(size).whole).toEqual({
    height: 56,
    width: 28,
  });
  expect(slices({}, usual).partsOf(size).whole).toEqual({ height: 644, width: 308 });
});

test('the whole image is followed by slices, row by row', () => {
  const { process } = slices({ patch_size: 2, scale_resolution: 8, max_slice_nums: 2 });
  const image = { data: new Uint8Array(8 * 16 * 3), height: 8, width: 16, channels: 3 } as const;
  const grids = process(image).map((slice) => slice().grid);
  expect(grids).toEqual([
    [4, 4],
    [4, 4],
    [4, 4],
  ]);
});

test.each([
  [{ do_resize: false }, 'do_resize'],
  [{ small_image_upsize: 'adaptive' }, 'small_image_upsize'],
  [{ max_slice_nums: 0 }, 'max_slice_nums'],
  [{ max_slice_nums: 5000 }, 'max_slice_nums'],
  [{ slice_mode: 1 }, 'slice_mode'],
  [{ image_processor_type: 'CLIPImageProcessor' }, 'image_processor_type'],
])('%j is refused', (config, message) => {
  expect(() => slices(config, 'MiniCPMOcrImageProcessor')).toThrow(message);
});

test('an image that becomes too many patches is refused', () => {
  expect(() => slices().partsOf({ height: 1, width: 20_000 })).toThrow('patches');
});

test.each([
  [3, 1.0986122886681098],
  [1 / 22, -3.0910424533583156],
  [4 / 13, -1.1786549963416462],
  [1, 0],
])('the logarithm of %d is that of Python', (ratio, log) => {
  expect(roundedLog(ratio)).toBe(log);
});

// torch.arange(1 / 40, 1.0, 1 / 40): one of these is a bit below 20 / 40.
test('lines of a table begin where torch has them', () => {
  expect(boundaries(3)).toEqual([1 / 3, 2 / 3].map(Math.fround));
  expect(boundaries(40)).toHaveLength(39);
  expect(boundaries(40).filter((value, i) => value !== Math.fround((i + 1) / 40)).length).toBeGreaterThan(0);
});

test('patches are merged in squares of four, which two numbers say', () => {
  expect(pair.safeParse([2, 2]).success).toBe(true);
  for (const other of [[2], [2, 3], [2, 2, 2]]) expect(pair.safeParse(other).success).toBe(false);
});
