import * as z from 'zod';
import type { Family } from '../family.js';
import { linear, matMulTransposed } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { type Edges, tokensFrom } from '../layers/patch-embed.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { epsilon, size } from '../config-fields.js';
import { imageTower, textTower, towerLayers, towerSizes } from '../bases/vision/clip-towers.js';
import { embeddedByClip, OLD_END, textStates } from './clip.js';
import { gridSize } from '../bases/vision/vit-config.js';

const common = { hidden_act: z.string().default('quick_gelu'), layer_norm_eps: epsilon.default(1e-5) };

const textConfig = z.object({
  ...{ ...textTower, ...common },
  vocab_size: size.default(49_408),
  hidden_size: size.default(512),
  intermediate_size: size.default(2048),
  num_attention_heads: size.default(8),
  max_position_embeddings: size.default(16),
});

const imageConfig = (patch: number) =>
  z.object({
    ...{ ...imageTower, ...common },
    hidden_size: size.default(768),
    intermediate_size: size.default(3072),
    num_attention_heads: size.default(12),
    image_size: imageTower.image_size.default(768),
    patch_size: imageTower.patch_size.default(patch),
  });

export const configOf = (patch: number) =>
  z
    .object({
      text_config: textConfig.nullish().transform((given) => given ?? textConfig.parse({})),
      vision_config: imageConfig(patch)
        .nullish()
        .transform((given) => given ?? imageConfig(patch).parse({})),
      projection_dim: size.default(512),
    })
    .refine((c) => c.projection_dim === c.text_config.hidden_size, {
      ...{ message: 'labels and patches have vectors of different length', path: ['projection_dim'] },
    });

type Config = z.output<ReturnType<typeof configOf>>;

/** Keeps quotients by lengths and logarithms finite. */
const [LEAST_LENGTH, LEAST_SHARE] = [1e-6, 1e-4];

/** Least float32: of labels that are padding. */
const LEAST = -3.4028234663852886e38;

/** Vectors of patches, float32 [rows, patches, width], each seen in the light of the whole image. */
function patchStates(g: GraphWriter, { vision_config: c }: Config): Value {
  const states = towerLayers(g, embeddedByClip(g, c, 'pre_layernorm'), c, { base: 'vision_model' });
  const normed = layerNorm(g, states, 'vision_model.post_layernorm', towerSizes(c));
  const weighed = g.node('Mul', [tokensFrom(g, normed, 1), tokensFrom(g, normed, 0, 1)]);
  return layerNorm(g, weighed, 'layer_norm', towerSizes(c));
}

function unit(g: GraphWriter, x: Value): Value {
  const length = g.node('ReduceL2', [x, g.ints([-1])], { keepdims: 1 });
  return g.node('Div', [x, g.node('Add', [length, g.scalar(LEAST_LENGTH)])]);
}

/** Scores of labels for patches: float32 [rows, patches, labels of a row]. */
function labelScores(g: GraphWriter, patches: Value, { text_config, vision_config }: Config): Value {
  const [from, to] = [vision_config.hidden_size, text_config.hidden_size];
  const dense = (name: string, width: number) =>
    linear(g, patches, `class_head.${name}`, { from, to: width });
  const { ends } = textStates(g, { ...text_config, eos_token_id: OLD_END });
  const labels = linear(g, ends, 'text_projection', { from: to, to, bias: false });
  const rows = g.node('Shape', [patches], { start: 0, end: 1 });
  const ofRows = (x: Value, width: number) =>
    g.node('Reshape', [x, g.node('Concat', [rows, g.ints([-1, width])], { axis: 0 })]);
  const alike = matMulTransposed(g, unit(g, dense('dense0', to)), unit(g, ofRows(labels, to)));
  const scale = g.node('Add', [g.node('Elu', [dense('logit_scale', 1)]), g.scalar(1)]);
  const scores = g.node('Mul', [g.node('Add', [alike, dense('logit_shift', 1)]), scale]);
  const first = g.node('Gather', ['input_ids', g.ints([0], [])], { axis: 1 });
  const isLabel = g.node('Greater', [first, g.ints([0], [])]);
  const shape = g.node('Concat', [rows, g.ints([1, -1])], { axis: 0 });
  return g.node('Where', [g.node('Reshape', [isLabel, shape]), scores, g.scalar(LEAST)]);
}

/** What a share of the image is before the sigmoid, in float32 as Python computes it. */
function logit(share: number): number {
  const { fround, log, log1p } = Math;
  const least = fround(LEAST_SHARE);
  return fround(fround(log(fround(share + least))) - fround(log1p(fround(least - share))));
}

/** Where a box is that a patch says nothing of, before the sigmoid: float32 [1, patches, 4]. */
function boxesOfPatches(g: GraphWriter, [lines, columns]: Edges): Value {
  const part = (values: readonly number[], dims: readonly number[]) =>
    g.node('Expand', [
      g.floats(
        values.map((value) => logit(Math.fround(value))),
        dims,
      ),
      g.ints([lines, columns, dims.at(-1)!]),
    ]);
  const shares = (count: number) => Array.from({ length: count }, (_, i) => (i + 1) / count);
  const parts = [
    part(shares(columns), [1, columns, 1]),
    part(shares(lines), [lines, 1, 1]),
    part([1 / columns, 1 / lines], [1, 1, 2]),
  ];
  return g.node('Reshape', [g.node('Concat', parts, { axis: 2 }), g.ints([1, -1, 4])]);
}

/** float32 [rows, patches, 4] */
function boxes(g: GraphWriter, patches: Value, { vision_config: c }: Config): Value {
  const from = c.hidden_size;
  const dense = (x: Value, i: number) => linear(g, x, `box_head.dense${i}`, { from, to: i === 2 ? 4 : from });
  const read = [0, 1].reduce((x, i) => g.node('Gelu', [dense(x, i)]), patches);
  const grid = gridSize([c.image_size, c.image_size], [c.patch_size, c.patch_size]);
  return g.node('Sigmoid', [g.node('Add', [dense(read, 2), boxesOfPatches(g, grid)])]);
}

export const heads: Family<Config>['heads'] = {
  'text-guided-detection': {
    model: (g, c) => {
      const patches = patchStates(g, c);
      g.output('logits', labelScores(g, patches, c), 'float32', ['rows', 'patches', 'labels']);
      g.output('pred_boxes', boxes(g, patches, c), 'float32', ['rows', 'patches', 4]);
    },
  },
};
