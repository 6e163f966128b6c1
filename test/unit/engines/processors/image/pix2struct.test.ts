import { createImageProcessor } from '../../../../../runtime/engines/processors/image/image-processor.js';

const PIX2STRUCT = { image_processor_type: 'Pix2StructImageProcessor' };

test.each([
  [{ do_normalize: false }, /do_normalize must be true/],
  [{ patch_size: { height: 16, width: 8 } }, /patches must be square/],
])('Pix2Struct with %p is refused at load', (settings, message) => {
  expect(() => createImageProcessor({ ...PIX2STRUCT, ...settings })).toThrow(message);
});

test('an image of one colour is all zeros beside its rows and columns', () => {
  const image = { data: new Uint8Array(32 * 32 * 3).fill(100), width: 32, height: 32, channels: 3 };
  const { values, height, patches } = createImageProcessor({ ...PIX2STRUCT, max_patches: 4 }).process(image);
  expect([height, patches]).toEqual([4, [2, 2]]);
  expect([...values].filter((value) => value !== 0)).toEqual([1, 1, 1, 2, 2, 1, 2, 2]);
});
