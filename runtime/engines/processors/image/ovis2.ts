import { canvasProcessor, type CanvasProcessor } from './got-ocr2.js';
import { bestCanvas, type Canvas, canvases, type CanvasLimits } from './canvas.js';
import { resizerOf } from './resizer.js';
import type { Json } from '../../repository/model-folder.js';
import type { Edges } from './sizes.js';

/** Share of an image's area that tiles have to cover without being reduced. */
const COVERED = 0.9;

/** Ovis2ImageProcessor: the whole image before its tiles. From preprocessor_config.json. */
export function createOvis2Processor(config: Json): CanvasProcessor {
  const cuts = config['crop_to_patches'] === true;
  const own = cuts ? config : { ...config, min_patches: 1, max_patches: 1 };
  const canvasOf = config['use_covering_area_grid'] === false ? bestCanvas : coveringCanvas;
  const tiles = canvasProcessor(own, { edge: 384, canvasOf, resizer: resizerOf(config) });
  return {
    ...tiles,
    process(image) {
      const parts = tiles.process(image);
      return parts.length === 1 ? parts : [parts.at(-1)!, ...parts.slice(0, -1)];
    },
  };
}

/** Of the canvases that cover enough of an image the smallest, else the one that covers most. */
export function coveringCanvas(size: Edges, { most, tile }: CanvasLimits): Canvas {
  const all = canvases(1, most).map((canvas) => ({
    canvas,
    tiles: canvas.rows * canvas.columns,
    covered: coveredBy(size, canvas, tile.height),
  }));
  const enough = all.filter(({ covered }) => covered > COVERED);
  if (enough.length === 0)
    return all.toSorted((a, b) => b.covered - a.covered || a.tiles - b.tiles)[0]!.canvas;
  return enough.toSorted((a, b) => a.tiles - b.tiles || b.covered - a.covered)[0]!.canvas;
}

/** Python takes rows for columns here. */
function coveredBy({ height, width }: Edges, { rows: across, columns: down }: Canvas, side: number): number {
  const [line, column] = [Math.floor(height / down), Math.floor(width / across)];
  let sum = 0;
  for (let y = 0; y < down; y++)
    for (let x = 0; x < across; x++) {
      const high = y === down - 1 ? height - y * line : line;
      const wide = x === across - 1 ? width - x * column : column;
      sum += coveredPart(high, wide, side);
    }
  return sum / (height * width);
}

function coveredPart(high: number, wide: number, side: number): number {
  const [long, short] = [Math.max(high, wide), Math.min(high, wide)];
  return long > side ? side * ((short / long) * side) : long * short;
}
