import * as z from 'zod';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { attention } from '../layers/attention.js';
import { gridDistances } from '../layers/relative-position-index.js';
import { headWidth } from '../layers/head-sizes.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { labelScores, meanToken, imageHeads } from '../bases/vision/image-heads.js';
import type { ImageModel } from '../bases/vision/image-encoder.js';
import { patches, imageInput } from '../layers/patch-embed.js';
import { bucketBias } from '../layers/t5-relative-bias.js';
import { paddedImage } from '../layers/window-partition.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { labelCount } from '../config-fields.js';
import { edges, gridSize } from '../bases/vision/vit-config.js';
import { swinFields, sameStages } from './swin.js';
import { fourTogether, halved, ofAllRows, throughWindows } from '../bases/vision/shifted-windows.js';

const config = z
  .object({
    ...swinFields,
    image_size: edges.default([224, 224]),
    /** Edges of the windows that distances were learned with; 0 where they are those of this network. */
    pretrained_window_sizes: z
      .array(z.int().min(0).max(256))
      .nullish()
      .transform((given) => given ?? [0, 0, 0, 0]),
  })
  .superRefine(sameStages)
  .refine(
    (c) => c.pretrained_window_sizes.length >= c.depths.length && !c.pretrained_window_sizes.includes(1),
    {
      ...{ message: 'there is none for each stage', path: ['pretrained_window_sizes'] },
    },
  );
type Config = z.output<typeof config>;

/** Of norms without a setting. */
const EPSILON = 1e-5;
/** Width of what makes a bias of a distance, the largest bias, and where distances end. */
const [INNER, MOST, FARTHEST] = [512, 16, 8];
/** The largest factor of likeness. */
const MOST_SCALE = 100;

interface LayerOf {
  c: Config;
  at: (name: string) => string;
  grid: Value;
  width: number;
  heads: number;
  /** Of a window. */
  edge: number;
  learned: number;
  shift: Value | undefined;
}

/** Norms stand behind attention and feed-forward. */
function layer(g: GraphWriter, x: Value, of: LayerOf): Value {
  const { c, at, width } = of;
  const normed = (value: Value, name: string) =>
    layerNorm(g, value, at(name), { width, epsilon: c.layer_norm_eps });
  const found = throughWindows(g, x, of, (windows, mask) => attended(g, windows, { ...of, mask }));
  const middle = g.node('Add', [x, normed(found, 'layernorm_before')]);
  const inner = Math.trunc(c.mlp_ratio * width);
  const wide = activation(
    g,
    linear(g, middle, at('intermediate.dense'), { from: width, to: inner }),
    c.hidden_act,
  );
  const narrow = linear(g, wide, at('output.dense'), { from: inner, to: width });
  return g.node('Add', [middle, normed(narrow, 'layernorm_after')]);
}

/** Scores are how alike directions are. @param x float32 [rows · windows, tokens, width] */
function attended(g: GraphWriter, x: Value, of: LayerOf & { mask: Value | undefined }): Value {
  const { c, at, width, heads, mask } = of;
  const own = (name: string) => at(`attention.self.${name}`);
  const project = (name: string, bias: boolean) => linear(g, x, own(name), { from: width, to: width, bias });
  const heading = (value: Value) =>
    g.node(
      'LpNormalization',
      [...[g.node('Reshape', [value, g.ints([0, 0, heads, headWidth(width, heads)])])]],
      { axis: -1, p: 2 },
    );
  const together = (value: Value) => g.node('Reshape', [value, g.ints([0, 0, width])]);
  const most = g.scalar(Math.log(MOST_SCALE));
  const scale = g.node('Exp', [g.node('Min', [g.weight(own('logit_scale'), [heads, 1, 1]), most])]);
  const scaled = g.node('Mul', [
    ...[heading(project('query', c.qkv_bias)), g.node('Reshape', [scale, g.ints([heads, 1])])],
  ]);
  const bias = distanceBias(g, of);
  // Python adds the mask twice.
  const added = mask && ofAllRows(g, g.node('Add', [bias, g.node('Mul', [mask, g.scalar(2)])]), x);
  const projected = {
    query: together(scaled),
    key: together(heading(project('key', false))),
    value: project('value', c.qkv_bias),
  };
  const found = attention(g, projected, { heads, width, scale: 1, bias: added ?? bias });
  return linear(g, found, at('attention.output.dense'), { from: width, to: width });
}

/** What a small network makes of distances: float32 [1, heads, tokens, tokens]. */
function distanceBias(g: GraphWriter, { at, heads, edge, learned }: LayerOf): Value {
  const name = (part: number) => at(`attention.self.continuous_position_bias_mlp.${part}`);
  const table = g.once(`swinv2 ${edge} ${learned}`, () => distances(g, edge, learned));
  const wide = g.node('Relu', [linear(g, table, name(0), { from: 2, to: INNER })]);
  const found = linear(g, wide, name(2), { from: INNER, to: heads, bias: false });
  const biases = g.node('Mul', [g.node('Sigmoid', [found]), g.scalar(MOST)]);
  return bucketBias(
    g,
    g.once(`swin distances ${edge}`, () => gridDistances(g, [edge, edge])),
    biases,
  );
}

/** Distances of lines and columns, the far ones nearer together: float32 [distances, 2]. */
function distances(g: GraphWriter, edge: number, learned: number): Value {
  const { fround, log2, abs, sign } = Math;
  const whole = (learned > 0 ? learned : edge) - 1;
  const count = 2 * edge - 1;
  const values = Array.from({ length: count }, (_, i) => {
    const far = whole === 0 ? 0 : fround(fround((i + 1 - edge) / whole) * FARTHEST);
    return (sign(far) * log2(fround(abs(far) + 1))) / log2(FARTHEST);
  });
  const ofAll = (dims: readonly number[]) =>
    g.node('Expand', [g.floats(values, dims), g.ints([count, count, 1])]);
  const both = g.node('Concat', [ofAll([count, 1, 1]), ofAll([1, count, 1])], { axis: 2 });
  return g.node('Reshape', [both, g.ints([-1, 2])]);
}

/** All layers: float32 [rows, tokens, width of the last stage]. */
function layersOf(g: GraphWriter, c: Config): Value {
  const pixels = paddedImage(g, imageInput(g, c.num_channels), c.patch_size);
  const found = patches(g, pixels, 'swinv2.embeddings.patch_embeddings.projection', {
    ...{ channels: c.num_channels, width: c.embed_dim, patch: c.patch_size },
  });
  let { grid } = found;
  let x = layerNorm(g, found.tokens, 'swinv2.embeddings.norm', { width: c.embed_dim, epsilon: EPSILON });
  const [lines] = gridSize(c.image_size, c.patch_size);
  c.depths.forEach((depth, stage) => {
    const width = c.embed_dim * 2 ** stage;
    const inStage = (name: string) => `swinv2.encoder.layers.${stage}.${name}`;
    // Of images of the configured size: the windows of others are as large.
    const tall = Math.floor(lines / 2 ** stage);
    const edge = Math.min(tall, c.window_size);
    if (edge === 0) throw new GraphError('config.json: image_size leaves nothing for the last stages');
    const half = Math.floor(c.window_size / 2);
    const shifts = tall > edge && half > 0;
    for (let i = 0; i < depth; i++) {
      const at = (name: string) => inStage(`blocks.${i}.${name}`);
      const shift = shifts && i % 2 === 1 ? g.ints([half]) : undefined;
      const learned = c.pretrained_window_sizes[stage]!;
      x = layer(g, x, { c, at, grid, width, heads: c.num_heads[stage]!, edge, learned, shift });
    }
    if (stage === c.depths.length - 1) return;
    const four = fourTogether(g, x, grid, width);
    const size = { from: 4 * width, to: 2 * width, bias: false };
    const merged = linear(g, four, inStage('downsample.reduction'), size);
    x = layerNorm(g, merged, inStage('downsample.norm'), { width: size.to, epsilon: EPSILON });
    grid = halved(g, grid);
  });
  return x;
}

function modelOf(c: Config): ImageModel {
  const sizes = { width: c.embed_dim * 2 ** (c.depths.length - 1), labels: labelCount(c) };
  const norm = { width: sizes.width, epsilon: c.layer_norm_eps };
  return {
    ...{ ...sizes, pool: meanToken },
    states: (g) => layerNorm(g, layersOf(g, c), 'swinv2.layernorm', norm),
    classify: (g, states) => labelScores(g, meanToken(g, states), sizes),
  };
}

/** modeling_swinv2.py */
export const swinv2 = defineFamily({
  modelTypes: ['swinv2'],
  config,
  prefixes: ['swinv2.'],
  heads: imageHeads(modelOf),
  image: modelOf,
});
