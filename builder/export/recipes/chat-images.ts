import { ARIA_EDGE, cellOf, DEEPSEEK_OCR2 } from '../../../runtime/hub-config/image-edges.js';
import type { SampleInput, Sizes } from '../types.js';
import { type Json, number } from './config.js';

/** What the encoder of a chat reads of one image. */
export interface ChatImages {
  inputs: Readonly<Record<string, SampleInput>>;
  free: readonly string[];
  traced: Sizes;
  probes: readonly Sizes[];
  /** Argument of the network for the edges of images. */
  edges?: string;
  /** Argument for how many tiles each image has, and the input that they are in. */
  tiles?: { counts: string; of: string };
  /** What stands for a feature, where config.json does not say. */
  token?: number | undefined;
}

/** One image a run, as the server has it. */
const ONE: Sizes = { images: 1 };

/** Images of one size, one a run. */
const ofOneSize = (inputs: ChatImages['inputs']): ChatImages => ({
  ...{ inputs, free: [], traced: ONE, probes: [ONE, ONE, ONE] },
});

/** Edges of images by cells of the network, one image a run. */
const IN_CELLS: readonly (readonly [number, number])[] = [
  [3, 2],
  [2, 5],
  [4, 4],
];

/** Images of any size that is a whole number of cells. @param cell edge of one, in pixels */
function inCells(cell: number, edges: string): ChatImages {
  const sizes = IN_CELLS.map(([rows, columns]) => ({
    ...{ images: 1, height: rows * cell, width: columns * cell },
  }));
  return {
    inputs: { pixel_values: { kind: 'noise', axes: ['images', 3, 'height', 'width'] } },
    ...{
      free: ['height', 'width'],
      traced: { images: 1, height: 5 * cell, width: 4 * cell },
      probes: sizes,
      edges,
    },
  };
}

/** A whole image of one size, and tiles of another: at least one, which the server leaves out again where there is none. */
function withTiles(edge: number, tile: number): ChatImages {
  return {
    inputs: {
      pixel_values: { kind: 'noise', axes: ['images', 3, edge, edge] },
      pixel_values_local: { kind: 'noise', axes: ['tiles', 3, tile, tile] },
    },
    ...{ free: ['tiles'], traced: { images: 1, tiles: 3 } },
    probes: [1, 2, 5].map((tiles) => ({ images: 1, tiles })),
    tiles: { counts: 'num_local_patches', of: 'pixel_values_local' },
  };
}

const tokenIn = (map: unknown): number | undefined => number(((map ?? {}) as Json)['<image>']);

const TYPES: Readonly<Record<string, (config: Json, processing: Json) => ChatImages | string>> = {
  aria: () =>
    ofOneSize({
      pixel_values: { kind: 'noise', axes: ['images', 3, ARIA_EDGE, ARIA_EDGE] },
      pixel_mask: { kind: 'corner', axes: ['images', ARIA_EDGE, ARIA_EDGE] },
    }),
  apertus1p5: (config) => inCells(cellOf((config['vision_config'] ?? {}) as Json, 5), 'image_sizes'),
  chameleon: (config, processing) => {
    const { height = 512, width = 512 } = (processing['crop_size'] ?? {}) as Json;
    const edges = [height, width].map(number);
    if (edges.some((edge) => edge === undefined)) return 'its processor does not cut images to one size';
    return {
      ...ofOneSize({ pixel_values: { kind: 'noise', axes: ['images', 3, ...(edges as number[])] } }),
      token: tokenIn(config['vocabulary_map']),
    };
  },
  deepseek_ocr2: () => withTiles(DEEPSEEK_OCR2.edge, DEEPSEEK_OCR2.tile),
  emu3: (config) => ({
    ...inCells(cellOf((config['vq_config'] ?? {}) as Json, 4), 'image_sizes'),
    token: tokenIn(config['vocabulary_map']),
  }),
};

/** What the type's processor gives of an image. @returns a text for a type without a recipe */
export function chatImages(type: string, config: Json, processing: Json): ChatImages | string {
  const found = Object.hasOwn(TYPES, type) ? TYPES[type]! : undefined;
  return found ? found(config, processing) : 'what its processor gives of images has no recipe';
}
