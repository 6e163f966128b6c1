import { createPaddlePatchProcessor } from '../../../../../runtime/engines/processors/image/qwen2-vl.js';

const SETTINGS = { patch_size: 8, merge_size: 2, size: { shortest_edge: 1024, longest_edge: 5120 } };

// smart_resize of image_processing_paddleocr_vl.py
test.each([
  [{ height: 10, width: 100 }, [1, 2, 20]],
  [{ height: 40, width: 7 }, [1, 12, 2]],
  [{ height: 48, width: 32 }, [1, 6, 4]],
])('an image of %j is enlarged to a cell at least', (size, grid) => {
  expect(createPaddlePatchProcessor(SETTINGS).gridOf(size)).toEqual(grid);
});

test('patches over time are refused by name', () => {
  expect(() => createPaddlePatchProcessor({ ...SETTINGS, temporal_patch_size: 2 })).toThrow(
    'temporal_patch_size',
  );
});
