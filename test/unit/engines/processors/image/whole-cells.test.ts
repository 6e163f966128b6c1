import { CLIP, HALVES } from '../../../../../runtime/engines/processors/image/levels.js';
import { resizerOf, torchResizer } from '../../../../../runtime/engines/processors/image/resizer.js';
import { createCellProcessor } from '../../../../../runtime/engines/processors/image/whole-cells.js';
import { mean as meanOf, patterned } from './patterned.js';

const pixels = { least: 1024, most: 6400 };
const apertus = { pixels, cell: 8, levels: HALVES, resizer: torchResizer({}) };
const emu = { pixels, cell: 8, levels: CLIP, resizer: resizerOf({}) };

// Apertus1p5ImageProcessor and Emu3ImageProcessor of transformers 5.24, of 1024 to 6400 pixels in cells of 8.
test.each([
  ['Apertus', apertus, 90, 50, [48, 88], -0.02560965],
  ['Apertus', apertus, 33, 120, [120, 32], -0.02687432],
  ['Apertus', apertus, 400, 11, [8, 400], -0.03890686],
  ['Emu', emu, 90, 50, [48, 88], 0.14122734],
  ['Emu', emu, 33, 120, [120, 32], 0.13896437],
  ['Emu', emu, 400, 11, [8, 400], 0.11744265],
] as const)('%s: %j %d by %d', (_, rules, width, height, [lines, columns], mean) => {
  const { sizeOf, process, mostCells } = createCellProcessor({}, rules);
  expect(mostCells).toBe(100);
  expect(sizeOf({ width, height })).toEqual({ height: lines, width: columns });
  expect(meanOf(process(patterned(width, height)))).toBeCloseTo(mean, 6);
});

test.each([
  ['spatial_factor', { spatial_factor: 1.5 }, apertus],
  ['max_pixels', {}, { ...apertus, pixels: { least: 1024, most: '6400' } }],
  ['do_resize', { do_resize: false }, apertus],
])('%s is refused by name', (name, config, rules) => {
  expect(() => createCellProcessor(config, rules)).toThrow(name);
});
