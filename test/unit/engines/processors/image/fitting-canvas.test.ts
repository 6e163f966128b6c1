import { createFittingProcessor } from '../../../../../runtime/engines/processors/image/got-ocr2.js';
import { fittingCanvas } from '../../../../../runtime/engines/processors/image/canvas.js';

const tile = { height: 24, width: 24 };

// get_optimal_tiled_canvas of image_processing_cohere2_vision.py, transformers 5.24
test.each([
  [{ height: 10, width: 10 }, 12, { rows: 1, columns: 1 }],
  [{ height: 24, width: 24 }, 12, { rows: 1, columns: 1 }],
  [{ height: 25, width: 24 }, 12, { rows: 2, columns: 1 }],
  [{ height: 24, width: 49 }, 12, { rows: 1, columns: 3 }],
  [{ height: 90, width: 25 }, 4, { rows: 4, columns: 1 }],
  [{ height: 500, width: 300 }, 12, { rows: 4, columns: 3 }],
  [{ height: 300, width: 500 }, 12, { rows: 3, columns: 4 }],
  [{ height: 480, width: 640 }, 6, { rows: 2, columns: 3 }],
  [{ height: 1000, width: 20 }, 12, { rows: 12, columns: 1 }],
  [{ height: 61, width: 100 }, 9, { rows: 2, columns: 4 }],
])('an image of %j has of %d tiles at most those of %j', (size, most, canvas) => {
  expect(fittingCanvas(size, { least: 1, most, tile })).toEqual(canvas);
});

test('an image that is not cut is one tile', () => {
  const settings = { size: tile, crop_to_patches: false };
  expect(createFittingProcessor(settings).tilesOf({ height: 500, width: 300 })).toBe(1);
});

test.each([
  [{ size: { height: 24, width: 48 } }, 'no square'],
  [{ max_patches: 0 }, 'max_patches'],
])('settings of %j are refused by name', (settings, name) => {
  expect(() => createFittingProcessor(settings)).toThrow(name);
});
