import { createCanvasProcessor } from '../../../../../runtime/engines/processors/image/got-ocr2.js';

const size = { height: 16, width: 16 };

/** Columns times rows of get_optimal_tiled_canvas, and the whole image. */
test.each([
  [100, 100, 12, 3 * 3 + 1],
  [100, 100, 6, 2 * 2 + 1],
  [30, 130, 12, 4 + 1],
  [97, 33, 12, 2 * 6 + 1],
  [97, 33, 6, 3 + 1],
  [16, 16, 12, 1],
  [44, 60, 12, 4 * 3 + 1],
  [44, 60, 6, 3 * 2 + 1],
  [64, 64, 12, 3 * 3 + 1],
])('an image %i high and %i wide has of %i tiles %i', (height, width, max_patches, count) => {
  expect(createCanvasProcessor({ size, max_patches }).tilesOf({ height, width })).toBe(count);
});

test('tiles go row by row, the whole image is the last one', () => {
  const data = new Uint8Array(32 * 32 * 3).fill(255);
  for (let y = 0; y < 16; y++) data.fill(0, y * 96, y * 96 + 48);
  const settings = { size, max_patches: 4, do_normalize: false };
  const tiles = createCanvasProcessor(settings).process({ data, width: 32, height: 32, channels: 3 });
  const middles = tiles.map((tile) => tile()[4 * 16 + 4]);
  expect(tiles).toHaveLength(5);
  expect(middles.map((level) => Math.round(level!))).toEqual([0, 1, 1, 1, 0]);
});

test('settings with more tiles than can be compared are refused', () => {
  expect(() => createCanvasProcessor({ max_patches: 1e9 })).toThrow('max_patches is not from 1 to 1024');
});
