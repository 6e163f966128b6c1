import { createGlmPatchProcessor } from '../../../../../runtime/engines/processors/image/glm4v.js';

const TINY = { patch_size: 4, size: { shortest_edge: 800, longest_edge: 3200 } };

// smart_resize of image_processing_glm4v.py, for two frames
test.each([
  [TINY, { height: 6, width: 11 }, [16, 32]],
  [TINY, { height: 90, width: 25 }, [72, 16]],
  [{}, { height: 13, width: 500 }, [28, 1064]],
  [{}, { height: 640, width: 480 }, [644, 476]],
  [{}, { height: 4000, width: 3000 }, [2800, 2100]],
  [{ min_pixels: 1, max_pixels: 2 }, { height: 70, width: 98 }, [56, 112]],
  [{}, { height: 49, width: 27 }, [112, 84]],
])('by %j an image of %j becomes one of %j', (settings, size, [height, width]) => {
  const patch = 'patch_size' in settings ? settings.patch_size : 14;
  expect(createGlmPatchProcessor(settings).gridOf(size)).toEqual([1, height! / patch, width! / patch]);
});

test('the most patches are those of the most pixels, which all frames share', () => {
  expect(createGlmPatchProcessor(TINY).mostPatches).toBe(100);
});

test('a small image that is too long once it is enlarged is refused', () => {
  expect(() => createGlmPatchProcessor({}).gridOf({ height: 13, width: 2700 })).toThrow('200 times as long');
});

test.each([
  [{ shortest_edge: 800 }],
  [{ height: 4, width: 4 }],
  [224],
  [{ shortest_edge: 0, longest_edge: 9 }],
])('a size of %j is refused by name', (size) => {
  expect(() => createGlmPatchProcessor({ ...TINY, size })).toThrow('shortest_edge and longest_edge');
});
