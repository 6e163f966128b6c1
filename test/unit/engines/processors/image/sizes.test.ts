import { roundHalfEven } from '../../../../../runtime/core/round-half-even.js';
import { createImageProcessor } from '../../../../../runtime/engines/processors/image/image-processor.js';
import {
  edgesOf,
  largestWithin,
  longestEdge,
  multipleAbove,
  multipleBelow,
  shortestEdgeWithin,
} from '../../../../../runtime/engines/processors/image/sizes.js';

/** Height, width, shortest, longest; height and width that Python's get_size_with_aspect_ratio gives. */
const DETR = [
  [61, 97, 64, 112, 64, 101],
  [131, 43, 64, 112, 112, 37],
  [480, 640, 800, 1333, 800, 1066],
  [100, 1000, 800, 1333, 133, 1333],
  [800, 1200, 800, 1333, 800, 1200],
  [1, 50, 32, 64, 1, 50],
  [37, 37, 64, 64, 64, 64],
  [138, 583, 32, 512, 32, 135],
  [121, 508, 800, 1333, 318, 1333],
  [668, 389, 64, 64, 64, 37],
  [500, 30, 800, 1333, 1333, 80],
  [623, 781, 32, 1333, 32, 40],
  [273, 739, 64, 64, 24, 64],
  [326, 32, 32, 64, 64, 6],
  [666, 555, 32, 1333, 38, 32],
  [703, 222, 800, 64, 64, 20],
  [541, 228, 800, 1333, 1333, 562],
  [567, 239, 224, 112, 111, 47],
  [694, 225, 800, 512, 512, 166],
  [23, 427, 32, 112, 6, 112],
  [645, 742, 224, 64, 56, 64],
  [761, 341, 800, 112, 112, 50],
  [311, 291, 800, 1333, 854, 800],
  [604, 874, 32, 1333, 32, 46],
  [249, 762, 800, 1333, 436, 1333],
  [681, 178, 224, 512, 511, 134],
  [89, 450, 32, 112, 22, 112],
  [534, 861, 800, 512, 318, 512],
  [502, 751, 32, 1333, 32, 47],
  [45, 316, 800, 112, 16, 112],
  [173, 515, 64, 64, 21, 64],
  [790, 205, 64, 1333, 246, 64],
] as const;

test.each(DETR)('%i x %i to %i within %i is %i x %i', (...row) => {
  const [height, width, shortest, longest, newHeight, newWidth] = row;
  expect(shortestEdgeWithin({ height, width }, shortest, longest)).toEqual({
    height: newHeight,
    width: newWidth,
  });
});

test.each([
  [0.5, 0],
  [1.5, 2],
  [2.5, 2],
  [2.51, 3],
])('%d rounds to %d', (value, rounded) => {
  expect(roundHalfEven(value)).toBe(rounded);
});

test('the largest size within limits has one of them', () => {
  expect(largestWithin({ height: 100, width: 200 }, { height: 50, width: 50 })).toEqual({
    height: 25,
    width: 50,
  });
  expect(largestWithin({ height: 100, width: 200 }, { height: 200, width: 500 })).toEqual({
    height: 200,
    width: 400,
  });
});

test('the longest edge rounds the other one', () => {
  expect(longestEdge({ height: 75, width: 100 }, 1024)).toEqual({ height: 768, width: 1024 });
  expect(longestEdge({ height: 100, width: 33 }, 64)).toEqual({ height: 64, width: 21 });
});

test('multiples lie above or below', () => {
  expect(multipleAbove({ height: 33, width: 64 }, 32)).toEqual({ height: 64, width: 64 });
  expect(multipleBelow({ height: 33, width: 64 }, 32)).toEqual({ height: 32, width: 64 });
});

test.each([
  [20, { height: 20, width: 20 }],
  [
    { height: 20, width: 30 },
    { height: 20, width: 30 },
  ],
])('%j in a file is a size', (given, size) => {
  expect(edgesOf(given)).toEqual(size);
});

test.each([[0.25], [[0.25]], [[0.25, 0.25, 0.25]]])('means of %j are those of all channels', (image_mean) => {
  const settings = { image_processor_type: 'ViTImageProcessor', size: 4, image_std: [1, 1, 1] };
  const image = { data: new Uint8Array(48).fill(255), width: 4, height: 4, channels: 3 };
  const { values } = createImageProcessor({ ...settings, image_mean }).process(image);
  expect([...values]).toEqual(new Array(48).fill(0.75));
});

test('means of two channels are refused', () => {
  expect(() => createImageProcessor({ image_mean: [0.5, 0.5] })).toThrow(/for 3 channels, not for 2/);
});

test('SAM fills images up to a pad_size of one number', () => {
  const sam = { image_processor_type: 'SamImageProcessor', size: { longest_edge: 16 } };
  const image = { data: new Uint8Array(3 * 8 * 4).fill(9), width: 8, height: 4, channels: 3 };
  const found = createImageProcessor({ ...sam, pad_size: 20 }).process(image);
  expect(found).toMatchObject({ height: 20, width: 20, content: { height: 8, width: 16 } });
});
