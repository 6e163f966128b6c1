import { RunError } from '../../../core/errors.js';
import { finish } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import { type Canvas, canvases, cut, MOST_TILES } from './canvas.js';
import { HALVES, type LevelSettings, levelTable, planesBy, readLevels } from './levels.js';
import { BLACK, placedOn } from './regions.js';
import type { Edges } from './sizes.js';
import { checkTorchSettings, resizedLikeTorch } from './torch-resize.js';

/** Cuts images into tiles of one size, black where an image ends, with the whole image behind them where there are several. */
export interface PaddedTiles {
  /** Of a tile. */
  readonly edge: number;
  canvasOf(size: Edges): Canvas;
  /** Values [3, edge, edge] of each tile, row by row, made when they are asked for. */
  process(image: Image): (() => Float32Array)[];
}

interface Rules {
  edge: number;
  most: number;
  /** Images become as large as a canvas lets them. */
  enlarges: boolean;
  resample: number;
}

/**
 * Llama4ImageProcessor, from preprocessor_config.json.
 * @throws RunError `not_ready` for settings that it fails with, or that are not known
 */
export function createPaddedTiles(config: Json): PaddedTiles {
  const rules = rulesOf(config);
  const { edge, resample } = rules;
  const tables = [0, 1, 2].map((channel) => table(channel, readLevels(config, HALVES)));
  const planes = (image: Image) => planesBy(image, tables);
  const to = (image: Image, size: Edges) => finish(resizedLikeTorch(image, size, resample));
  return {
    edge,
    canvasOf: (size) => bestFit(size, rules),
    process(image) {
      const canvas = bestFit(image, rules);
      const { rows, columns } = canvas;
      const large = padded(to(image, fitted(image, canvas, rules)), {
        ...{ height: rows * edge, width: columns * edge },
      });
      const tile = { height: edge, width: edge };
      const tiles = Array.from(
        { length: rows * columns },
        (_, i) => () => planes(cut(large, Math.floor(i / columns), i % columns, tile)),
      );
      return tiles.length === 1 ? tiles : [...tiles, () => planes(to(image, tile))];
    },
  };
}

const refused = (what: string): RunError => new RunError('not_ready', `preprocessor_config.json: ${what}`);

function rulesOf(config: Json): Rules {
  const given = (config['size'] ?? { height: 336, width: 336 }) as Json;
  const [height, width] = [firstNumber(given, 'height'), firstNumber(given, 'width')];
  if (height === undefined || height !== width) throw refused('size must be a height and an equal width');
  if (config['do_resize'] === false) throw refused('do_resize must be true, as Python has it');
  const most = config['max_patches'] ?? 16;
  if (typeof most !== 'number' || !Number.isInteger(most) || most < 1 || most > MOST_TILES)
    throw refused(`max_patches is no number from 1 to ${MOST_TILES}`);
  const { resample = 2 } = checkTorchSettings({ resample: config['resample'] ?? 2 });
  const enlarges = config['resize_to_max_canvas'] === true;
  return { edge: height, most, enlarges, resample: resample as number };
}

/** The canvas that an image is enlarged least for, or made smaller least; of several the one with the least area. get_best_fit */
function bestFit({ height, width }: Edges, { edge, most, enlarges }: Rules): Canvas {
  const all = canvases(1, most).map((canvas) => {
    const [down, across] = [(canvas.rows * edge) / height, (canvas.columns * edge) / width].map(
      Math.fround,
    ) as [...[number, number]];
    return { canvas, scale: Math.min(down, across) };
  });
  const scales = all.map(({ scale }) => scale);
  const larger = scales.filter((scale) => scale >= 1);
  const smallest = enlarges ? Math.max(...larger) : Math.min(...larger);
  const chosen = larger.length > 0 ? smallest : Math.max(...scales);
  // Smaller canvases come first.
  return all.find(({ scale }) => scale === chosen)!.canvas;
}

/** What an image becomes within its canvas, in its form. get_max_res_without_distortion */
function fitted({ height, width }: Edges, { rows, columns }: Canvas, { edge, enlarges }: Rules): Edges {
  const [down, across] = [target(height, rows), target(width, columns)];
  const scaleOf = ({ edge: to, isSingle }: Target, own: number) =>
    isSingle ? Math.fround(to / own) : to / own;
  const [scaleH, scaleW] = [scaleOf(down, height), scaleOf(across, width)];
  const single = down.isSingle || across.isSingle;
  const isNarrow = single ? Math.fround(scaleW) < Math.fround(scaleH) : scaleW < scaleH;
  const along = (own: number, scale: number, isSingle: boolean, most: number) => {
    const product = isSingle ? Math.fround(own * scale) : own * scale;
    return Math.max(1, Math.min(Math.floor(product), most));
  };
  return isNarrow
    ? { height: along(height, scaleW, across.isSingle, down.edge), width: Math.max(1, across.edge) }
    : { height: Math.max(1, down.edge), width: along(width, scaleH, down.isSingle, across.edge) };

  /** Python has an edge of the canvas as a tensor of float32's arithmetic, and others as integers. */
  function target(own: number, count: number): Target {
    const canvas = count * edge;
    const wanted = Math.max(own, edge);
    return enlarges || canvas < wanted ? { edge: canvas, isSingle: true } : { edge: wanted, isSingle: false };
  }
}

interface Target {
  edge: number;
  isSingle: boolean;
}

/** Black to the right and below. */
const padded = (image: Image, to: Edges): Image => placedOn(image, { ...to, top: 0, left: 0, colour: BLACK });

/** Levels in the arithmetic of bfloat16 where they are rescaled and normalised both. */
function table(channel: number, levels: LevelSettings): Float32Array {
  if (!levels.do_rescale || !levels.do_normalize) return levelTable(channel, levels);
  const [factor, mean, std] = [
    Math.fround(levels.rescale_factor),
    ...[levels.image_mean, levels.image_std].map((list) => toBfloat16(list[channel]!)),
  ] as [number, number, number];
  return Float32Array.from({ length: 256 }, (_, level) => {
    const scaled = toBfloat16(Math.fround(toBfloat16(level) * factor));
    return toBfloat16(Math.fround(toBfloat16(Math.fround(scaled - mean)) / std));
  });
}

const BITS = new Uint32Array(1);
const FLOAT = new Float32Array(BITS.buffer);

/** The nearest number of bfloat16, the even one of two. */
function toBfloat16(value: number): number {
  FLOAT[0] = value;
  const bits = BITS[0]!;
  BITS[0] = (bits + 0x7f_ff + ((bits >>> 16) & 1)) & 0xff_ff_00_00;
  return FLOAT[0];
}
