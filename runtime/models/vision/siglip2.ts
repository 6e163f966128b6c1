import * as z from 'zod';
import { meanOfTokens } from '../bases/encoder/encoder-heads.js';
import {
  similarities,
  scalarWeight,
  imageTower,
  towerLayers,
  towerSizes,
  LONE_VISION_TOWER,
} from '../bases/vision/clip-towers.js';
import { labelScores } from '../bases/vision/image-heads.js';
import { labelCount, labels } from '../config-fields.js';
import { type Family, defineFamily } from '../family.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';
import { probed, siglipTexts, siglipTextVectors, siglipTower } from './siglip.js';

/** Of a whole table of positions. */
const MOST_PATCHES = 2 ** 16;

const { image_size: _, ...tower } = imageTower;

export const siglip2Images = z.object({
  ...{ ...tower, ...siglipTower },
  patch_size: tower.patch_size.default(16),
  num_patches: z.int().min(1).max(MOST_PATCHES).default(256),
  vision_use_head: z.boolean().default(true),
});
export type Siglip2Images = z.output<typeof siglip2Images>;

const config = z.object({
  ...labels,
  text_config: siglipTexts.prefault({}),
  vision_config: siglip2Images.prefault({}),
});
type Config = z.output<typeof config>;

/** What stands for images, each as rows of patches. */
export interface NaflexPatches {
  /** float32 [rows, patches, numbers of a patch] */
  pixels: Value;
  /** int64 [rows, 2]: patches of a column, and of a line. */
  shapes: Value;
  /** The same as float32 [rows, 1] each. */
  lines: Value;
  columns: Value;
}

/** Images that are filled up to the same number of patches. */
interface PaddedPatches extends NaflexPatches {
  /** int32 [rows, patches]: 0 for what fills up. */
  padding: Value;
}

const ROWS = ['rows', 'patches'];

/** Images that nothing is filled up in: those of one run have the same number of patches. */
export function naflexInputs(g: GraphWriter, c: Siglip2Images): NaflexPatches {
  return withShapes(g, g.input('pixel_values', 'float32', [...ROWS, patchNumbers(c)]));
}

function paddedInputs(g: GraphWriter, c: Siglip2Images): PaddedPatches {
  const pixels = g.input('pixel_values', 'float32', [...ROWS, patchNumbers(c)]);
  const mask = g.input('pixel_attention_mask', 'int64', ROWS);
  const patches = withShapes(g, pixels);
  return { ...patches, padding: g.node('Cast', [mask], { to: ELEMENTS.int32 }) };
}

const patchNumbers = (c: Siglip2Images): number => c.num_channels * c.patch_size ** 2;

function withShapes(g: GraphWriter, pixels: Value): NaflexPatches {
  const shapes = g.input('spatial_shapes', 'int64', ['rows', 2]);
  const float = g.node('Cast', [shapes], { to: ELEMENTS.float32 });
  const [lines, columns] = g.nodes('Split', [float, g.ints([1, 1])], {
    ...{ outputs: 2, attributes: { axis: 1 } },
  }) as [Value, Value];
  return { pixels, shapes, lines, columns };
}

/**
 * How much of each line (or column) of the table a patch takes, as torch's bilinear interpolation with antialias has it:
 * float32 [rows, patches, edge].
 * @param index of the patch's line in its image, float32 [rows, patches] @param count of the image's lines, float32 [rows, 1]
 */
export function shares(g: GraphWriter, index: Value, count: Value, edge: number): Value {
  const scale = g.node('Div', [g.scalar(edge), count]);
  const half = g.scalar(0.5);
  const middle = g.node('Sub', [g.node('Mul', [g.node('Add', [index, half]), scale]), half]);
  const cells = g.floats(Array.from({ length: edge }, (_, cell) => cell));
  const apart = g.node('Abs', [g.node('Sub', [cells, g.node('Unsqueeze', [middle, g.ints([2])])])]);
  const support = g.node('Unsqueeze', [g.node('Max', [scale, g.scalar(1)]), g.ints([2])]);
  const weights = g.node('Relu', [g.node('Sub', [g.scalar(1), g.node('Div', [apart, support])])]);
  return g.node('Div', [weights, g.node('ReduceSum', [weights, g.ints([2])], { keepdims: 1 })]);
}

/** The table of positions as each image's own grid has it; what fills up takes the first one. float32 [rows, patches, width] */
function positions(g: GraphWriter, { pixels, lines, columns }: NaflexPatches, c: Siglip2Images): Value {
  const width = c.hidden_size;
  const edge = Math.floor(Math.sqrt(c.num_patches));
  const count = g.node('Squeeze', [g.node('Shape', [pixels], { start: 1, end: 2 })]);
  const range = g.node('Range', [g.ints([0], []), count, g.ints([1], [])]);
  const patches = g.node('Cast', [g.node('Unsqueeze', [range, g.ints([0])])], { to: ELEMENTS.float32 });
  const line = g.node('Floor', [g.node('Div', [patches, columns])]);
  const isIn = g.node('Less', [patches, g.node('Mul', [lines, columns])]);
  const within = g.node('Cast', [isIn], { to: ELEMENTS.float32 });
  const at = (index: Value) => g.node('Mul', [index, within]);
  const column = g.node('Sub', [patches, g.node('Mul', [line, columns])]);
  const down = g.node('Unsqueeze', [shares(g, at(line), lines, edge), g.ints([3])]);
  const across = g.node('Unsqueeze', [shares(g, at(column), columns, edge), g.ints([2])]);
  const cells = g.node('Reshape', [g.node('Mul', [down, across]), g.ints([0, 0, edge * edge])]);
  return g.node('MatMul', [
    cells,
    g.weight('vision_model.embeddings.position_embedding.weight', [edge * edge, width]),
  ]);
}

/** float32 [rows, patches, width] */
export function naflexStates(
  g: GraphWriter,
  patches: NaflexPatches & Partial<PaddedPatches>,
  c: Siglip2Images,
): Value {
  const tokens = linear(g, patches.pixels, 'vision_model.embeddings.patch_embedding', {
    ...{ from: patchNumbers(c), to: c.hidden_size },
  });
  const embedded = g.node('Add', [tokens, positions(g, patches, c)]);
  const x = towerLayers(g, embedded, c, {
    base: 'vision_model',
    ...(patches.padding !== undefined && { padding: patches.padding }),
  });
  return layerNorm(g, x, 'vision_model.post_layernorm', towerSizes(c));
}

function writeMatcher(g: GraphWriter, { text_config: text, vision_config: c }: Config): void {
  const patches = paddedInputs(g, c);
  const found = probed(g, naflexStates(g, patches, c), c, patches.padding);
  const vectors = { images: found, texts: siglipTextVectors(g, text) };
  similarities(g, vectors, { width: c.hidden_size, bias: scalarWeight(g, 'logit_bias') });
}

/** Of the mean of all patches that are none of those that fill up. */
function writeClassifier(g: GraphWriter, { vision_config: c, ...given }: Config): void {
  const patches = paddedInputs(g, c);
  const mean = meanOfTokens(g, naflexStates(g, patches, c), patches.padding);
  const count = labelCount(given);
  const logits = labelScores(g, mean, { width: c.hidden_size, labels: count });
  g.output('logits', logits, 'float32', ['rows', count]);
}

/** SigLIP 2 that takes images of any proportions (NaFlex). modeling_siglip2.py */
export const siglip2 = defineFamily({
  modelTypes: ['siglip2'],
  readers: { processor: 'Siglip2', matching: 'sigmoid' },
  usualTask: 'zero-shot-image-classification',
  config,
  prefixes: [],
  heads: {
    'image-text-matching': { model: writeMatcher },
    'image-classification': { model: writeClassifier },
  },
});

const visionHeads: Family<Siglip2Images>['heads'] = {
  'image-features': {
    model: (g, c) => {
      const patches = paddedInputs(g, c);
      const x = naflexStates(g, patches, c);
      g.output('last_hidden_state', x, 'float32', ['rows', 'patches', c.hidden_size]);
      if (c.vision_use_head)
        g.output('pooler_output', probed(g, x, c, patches.padding), 'float32', ['rows', c.hidden_size]);
    },
  },
};

export const siglip2Vision = defineFamily({
  modelTypes: ['siglip2_vision_model'],
  config: siglip2Images,
  prefixes: [],
  parts: LONE_VISION_TOWER,
  heads: visionHeads,
});
