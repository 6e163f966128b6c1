import {
  createFrameProcessor,
  createTileProcessor,
} from '../../../../../runtime/engines/processors/image/idefics3.js';

/** Numbers of transformers' Idefics3ImageProcessor. */
const tiles = (longest: number, edge: number, more = {}) =>
  createTileProcessor({
    ...{ size: { longest_edge: longest }, max_image_size: { longest_edge: edge } },
    ...more,
  });

test.each([
  [480, 640, 2048, 512, 3, 4],
  [100, 2000, 2048, 512, 1, 4],
  [2000, 100, 2048, 512, 4, 1],
  [513, 512, 2048, 512, 4, 4],
  [2048, 1, 2048, 512, 4, 1],
  [30, 130, 96, 32, 1, 3],
  [97, 33, 96, 32, 3, 1],
  [3000, 2999, 1456, 364, 4, 4],
])('%d x %d is cut as in Python', (height, width, longest, edge, rows, columns) => {
  expect(tiles(longest, edge).partsOf({ height, width })).toEqual({ rows, columns });
});

test('a small image stays whole, and so do all where none are to be cut', () => {
  expect(tiles(32, 32).partsOf({ height: 10, width: 10 })).toBeUndefined();
  expect(
    tiles(2048, 512, { do_image_splitting: false }).partsOf({ height: 480, width: 640 }),
  ).toBeUndefined();
});

test('squares have the values of Python, the whole image last', () => {
  const { process } = tiles(16, 8, { image_mean: [0.5, 0.4, 0.3], image_std: [0.5, 0.6, 0.7] });
  const data = Uint8Array.from({ length: 15 * 27 * 3 }, (_, i) => (i * 37) % 256);
  const squares = process({ data, width: 27, height: 15, channels: 3 }).map((square) => square());
  expect(squares.map(({ length }) => length)).toEqual([192, 192, 192]);
  expect(squares.map((values) => [0, 5, 17, 30, 47].map((i) => Number(values[i]!.toFixed(4))))).toEqual([
    [-0.2627, 0.1137, 0.1608, -0.2, -0.0196],
    [-0.2314, 0.2, -0.2157, 0.1137, 0.0431],
    [-0.1686, 0.0667, 0.1765, -0.0039, -0.0118],
  ]);
});

test.each([1, 3, 4])('an image of %d rows, which Python takes for channels, is refused', (height) => {
  expect(() => tiles(64, 32).partsOf({ height, width: 90 })).toThrow(/pixels high/);
});

test('settings without an edge are refused by name', () => {
  expect(() => createTileProcessor({ max_image_size: { height: 3 } })).toThrow(/max_image_size/);
  expect(() => createTileProcessor({ size: { shortest_edge: 3 } })).toThrow(/shortest_edge/);
});

/** Sums and first numbers of SmolVLMVideoProcessor, which resizes tensors. */
test.each([
  [13, 19, 37, 23989, [107, 129, 122, 141, 116, 127, 150, 106]],
  [30, 9, 77, 24013, [135, 122, 127, 127, 132, 109, 110, 147]],
  [9, 30, 77, 24012, [111, 115, 124, 130, 135, 132, 124, 120]],
])(
  'a frame %i wide and %i high becomes the bytes that torch makes of it',
  (width, height, by, sum, first) => {
    const { process } = createFrameProcessor({
      ...{ size: { longest_edge: 16 }, max_image_size: { longest_edge: 8 } },
      ...{ do_rescale: false, do_normalize: false },
    });
    const data = Uint8Array.from({ length: width * height * 3 }, (_, i) => (i * by) % 251);
    const values = process({ data, width, height, channels: 3 });
    expect([...values.subarray(0, 8)]).toEqual(first);
    expect(values.reduce((all, value) => all + value, 0)).toBe(sum);
  },
);
