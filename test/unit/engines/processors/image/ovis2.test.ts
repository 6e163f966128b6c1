import {
  coveringCanvas,
  createOvis2Processor,
} from '../../../../../runtime/engines/processors/image/ovis2.js';

const limits = { least: 1, most: 9, tile: { height: 448, width: 448 } };

test.each([
  ['an image of one tile', { height: 400, width: 448 }, { rows: 1, columns: 1 }],
  // Python takes rows for columns: a high image gets two columns.
  ['a high image', { height: 896, width: 448 }, { rows: 1, columns: 2 }],
  ['a wide image', { height: 448, width: 1344 }, { rows: 3, columns: 1 }],
  ['an image that no canvas covers', { height: 4000, width: 4000 }, { rows: 3, columns: 3 }],
])('%s', (_, size, canvas) => {
  expect(coveringCanvas(size, limits)).toEqual(canvas);
});

test('images are whole where the file does not ask for tiles', () => {
  const { gridOf, tilesOf } = createOvis2Processor({ image_processor_type: 'Ovis2ImageProcessor' });
  expect(gridOf({ height: 2000, width: 500 })).toEqual({ rows: 1, columns: 1 });
  expect(tilesOf({ height: 2000, width: 500 })).toBe(1);
});
