import { createQuarterProcessor } from '../../../../../runtime/engines/processors/image/idefics2.js';

const size = { shortest_edge: 15, longest_edge: 38 };

// get_resize_output_image_size of image_processing_idefics2.py
test('an image is four quarters and itself, each within its edges', () => {
  const { partsOf } = createQuarterProcessor({ size, do_image_splitting: true });
  expect(partsOf({ height: 97, width: 33 })).toEqual(
    Array.from({ length: 5 }, () => ({ height: 38, width: 15 })),
  );
  expect(partsOf({ height: 44, width: 61 })).toEqual([
    ...[
      { height: 22, width: 30 },
      { height: 22, width: 31 },
      { height: 22, width: 30 },
      { height: 22, width: 31 },
    ],
    { height: 27, width: 38 },
  ]);
});

test('an image that is not cut is one', () => {
  expect(createQuarterProcessor({ size }).partsOf({ height: 10, width: 20 })).toEqual([
    { height: 15, width: 20 },
  ]);
});

test.each([
  [{ do_resize: false }, 'resized'],
  [{ do_pad: false }, 'padded'],
  [{ size: { longest_edge: 3 } }, 'size'],
])('settings of %j are refused by name', (settings, name) => {
  expect(() => createQuarterProcessor(settings)).toThrow(name);
});

test.each([
  { height: 1, width: 9 },
  { height: 3, width: 9 },
  { height: 9, width: 1 },
])('an image of %j is refused', (edges) => {
  expect(() => createQuarterProcessor({ size, do_image_splitting: true }).partsOf(edges)).toThrow('pixels');
});
