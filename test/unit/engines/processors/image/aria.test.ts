import { mean as meanOf, patterned } from './patterned.js';
import { createAriaProcessor } from '../../../../../runtime/engines/processors/image/aria.js';

// AriaImageProcessor and AriaImageProcessorPil of transformers 5.24, called with max_image_size=980 and split_image=False.
test.each([
  [false, 90, 50, [544, 980], -0.459026119],
  [true, 90, 50, [544, 980], -0.459027589],
  [false, 33, 120, [980, 336], -0.666213623],
  [true, 33, 120, [980, 336], -0.666220725],
  [false, 400, 11, [336, 980], -0.670677975],
  [true, 400, 11, [336, 980], -0.670734269],
] as const)('on a square (tensors: %s): %d by %d', (tensors, width, height, [lines, columns], mean) => {
  const image_processor_type = `AriaImageProcessor${tensors ? 'Fast' : ''}`;
  const { sizeOf, process } = createAriaProcessor({
    image_processor_type,
    max_image_size: 490,
    split_image: true,
  });
  expect(sizeOf({ width, height })).toEqual({ height: lines, width: columns });
  const values = process(patterned(width, height));
  expect(values.length).toBe(3 * 980 * 980);
  expect(meanOf(values)).toBeCloseTo(mean, 6);
});

test.each([0, 1.5, 981, '336'])('a shortest edge of %j is refused by name', (min_image_size) => {
  expect(() => createAriaProcessor({ min_image_size })).toThrow('min_image_size');
});
