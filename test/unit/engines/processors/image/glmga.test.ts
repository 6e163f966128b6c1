import { createGlmPatchProcessor } from '../../../../../runtime/engines/processors/image/glm4v.js';

const size = { shortest_edge: 800, longest_edge: 3200 };
const config = { ...{ patch_size: 4, merge_size: 2, patch_expand_factor: 2 }, size };
const image = { height: 60, width: 24 };

test.each([
  ['GlmgaImageProcessor', [1, 12, 4]],
  // Another class does not read patch_expand_factor.
  ['Glm46VImageProcessor', [1, 16, 6]],
])('%s decides what edges are multiples of', (image_processor_type, grid) => {
  expect(createGlmPatchProcessor({ ...config, image_processor_type }).gridOf(image)).toEqual(grid);
});

test('a part of a cell is refused', () => {
  const given = { ...config, patch_expand_factor: 1.5 };
  expect(() => createGlmPatchProcessor(given, 'GlmgaImageProcessor')).toThrow('patch_expand_factor');
});
