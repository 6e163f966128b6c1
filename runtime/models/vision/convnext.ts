import * as z from 'zod';
import { defineFamily } from '../family.js';
import { convnextLayer } from '../layers/convnext-layer.js';
import { convolution2d } from '../layers/convolution.js';
import { channelNorm, layerNorm } from '../layers/norm.js';
import { labelScores, imageHeads } from '../bases/vision/image-heads.js';
import type { ImageModel } from '../bases/vision/image-encoder.js';
import { imageInput } from '../layers/patch-embed.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { epsilon, labelCount, labels, size } from '../config-fields.js';
import { channels, stages } from '../bases/vision/vit-config.js';

const fields = {
  ...labels,
  num_channels: channels,
  patch_size: z.int().min(1).max(1024).default(4),
  hidden_sizes: z
    .array(size)
    .min(1)
    .max(64)
    .nullish()
    .transform((given) => given ?? [96, 192, 384, 768]),
  depths: stages.nullish().transform((given) => given ?? [3, 3, 9, 3]),
  hidden_act: z.string().default('gelu'),
  layer_norm_eps: epsilon.default(1e-12),
};

export const convnextFields = { ...fields, layer_scale_init_value: z.number().default(1e-6) };

const config = z.object(convnextFields);

export const convnextv2Fields = fields;

export const secondConfig = z.object(fields).transform((c) => ({ ...c, layer_scale_init_value: undefined }));

export type ConvnextConfig = z.output<typeof config> | z.output<typeof secondConfig>;

/** Of all norms but the last, and of those behind stages that others read. */
export const EPSILON = 1e-6;

interface LayerOf {
  c: ConvnextConfig;
  at: (name: string) => string;
  width: number;
}

function layer(g: GraphWriter, x: Value, { c, at, width }: LayerOf): Value {
  const [inner, factor] = [4 * width, c.layer_scale_init_value];
  const names = {
    ...{ depthwise: at('dwconv'), norm: at('layernorm'), wide: at('pwconv1'), narrow: at('pwconv2') },
    scale: factor !== undefined && factor > 0 ? at('layer_scale_parameter') : undefined,
    response: factor === undefined ? { name: at('grn'), shape: [1, 1, 1, inner] } : undefined,
  };
  return convnextLayer(g, x, { names, width, inner, kernel: 7, act: c.hidden_act, epsilon: EPSILON });
}

/** What the first stage reads, and what each gives: float32 [rows, width, lines, columns]. */
export function convnextStages(g: GraphWriter, pixels: Value, c: ConvnextConfig, base: string): Value[] {
  const at = (name: string) => `${base}${name}`;
  const first = c.hidden_sizes[0]!;
  const cut = convolution2d(g, pixels, at('embeddings.patch_embeddings'), {
    ...{ from: c.num_channels, to: first, kernel: c.patch_size, stride: c.patch_size, padding: 0 },
  });
  let x = channelNorm(g, cut, at('embeddings.layernorm'), { width: first, epsilon: EPSILON });
  const stages = [x];
  c.hidden_sizes.forEach((width, stage) => {
    const inStage = (name: string) => at(`encoder.stages.${stage}.${name}`);
    const from = c.hidden_sizes[stage - 1];
    if (from !== undefined) {
      const even = channelNorm(g, x, inStage('downsampling_layer.0'), { width: from, epsilon: EPSILON });
      const half = { from, to: width, kernel: 2, stride: 2, padding: 0 };
      x = convolution2d(g, even, inStage('downsampling_layer.1'), half);
    }
    for (let i = 0; i < (c.depths[stage] ?? 0); i++)
      x = layer(g, x, { c, at: (name) => inStage(`layers.${i}.${name}`), width });
    stages.push(x);
  });
  return stages;
}

export const modelOf =
  (base: string) =>
  (c: ConvnextConfig): ImageModel => {
    const sizes = { width: c.hidden_sizes.at(-1)!, labels: labelCount(c) };
    const pool = (g: GraphWriter, states: Value) => {
      const mean = g.node('ReduceMean', [states, g.ints([2, 3])], { keepdims: 0 });
      return layerNorm(g, mean, `${base}layernorm`, { width: sizes.width, epsilon: c.layer_norm_eps });
    };
    return {
      ...{
        ...sizes,
        pool,
        states: (g) => convnextStages(g, imageInput(g, c.num_channels), c, base).at(-1)!,
      },
      shape: ['rows', sizes.width, 'lines', 'columns'],
      classify: (g, states) => labelScores(g, pool(g, states), sizes),
    };
  };

/** modeling_convnext.py */
export const convnext = defineFamily({
  modelTypes: ['convnext'],
  readers: { processor: 'ConvNext' },
  config,
  prefixes: ['convnext.'],
  heads: imageHeads(modelOf('convnext.')),
});
