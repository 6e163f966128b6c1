import { createDeepseekOcr2Processor } from '../../../../../runtime/engines/processors/image/deepseek-ocr2.js';
import { mean, patterned } from './patterned.js';

// DeepseekOcr2ImageProcessor and DeepseekOcr2ImageProcessorPil of transformers 5.24, as its processor calls them.
test.each([
  ['', 90, 50, 0, -0.015884206, undefined],
  ['', 800, 380, 2, -0.004818708, -0.005820412],
  ['Fast', 800, 380, 2, -0.004820092, -0.005806531],
] as const)('%s: %d by %d', (ending, width, height, count, whole, local) => {
  const image_processor_type = `DeepseekOcr2ImageProcessor${ending}`;
  const found = createDeepseekOcr2Processor({
    image_processor_type,
    crop_to_patches: false,
    max_patches: 32,
  });
  const image = patterned(width, height);
  expect(found.tilesOf(image)).toBe(count);
  expect(mean(found.whole(image))).toBeCloseTo(whole, 6);
  const tiles = found.tiles(image);
  expect(tiles.length).toBe(count * 3 * 768 * 768);
  if (local !== undefined) expect(mean(tiles)).toBeCloseTo(local, 6);
});

test.each([
  ['size', { size: { height: 640, width: 640 } }],
  ['tile_size', { tile_size: 640 }],
  ['background_color', { background_color: 127 }],
])('%s is refused by name', (name, config) => {
  expect(() => createDeepseekOcr2Processor(config)).toThrow(name);
});

test('an image of one line that is too long is refused', () => {
  expect(() => createDeepseekOcr2Processor({}).tilesOf({ width: 4000, height: 1 })).toThrow('image');
});
