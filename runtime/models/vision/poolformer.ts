import * as z from 'zod';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { convolution } from '../layers/convolution.js';
import { groupNorm } from '../layers/group-norm.js';
import { labelScores, imageHeads } from '../bases/vision/image-heads.js';
import type { ImageModel } from '../bases/vision/image-encoder.js';
import { imageInput } from '../layers/patch-embed.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { labelCount, labels, size } from '../config-fields.js';
import { channels, edges, stages } from '../bases/vision/vit-config.js';

const paddings = z.int().min(0).max(1024);

const config = z
  .object({
    ...labels,
    num_channels: channels,
    pool_size: z
      .int()
      .min(1)
      .max(63)
      .refine((edge) => edge % 2 === 1, 'pools of an even edge make pictures larger')
      .default(3),
    mlp_ratio: z.number().min(0.01).max(64).default(4),
    depths: stages.default([2, 2, 6, 2]),
    hidden_sizes: z.array(size).min(1).max(64).default([64, 128, 320, 512]),
    patch_sizes: z
      .array(edges)
      .max(64)
      .default([
        [7, 7],
        [3, 3],
        [3, 3],
        [3, 3],
      ]),
    strides: z
      .array(edges)
      .max(64)
      .default([
        [4, 4],
        [2, 2],
        [2, 2],
        [2, 2],
      ]),
    padding: z.array(paddings).max(64).default([2, 1, 1, 1]),
    num_encoder_blocks: size.default(4),
    hidden_act: z.string().default('gelu'),
    use_layer_scale: z.boolean().default(true),
  })
  .refine(
    (c) =>
      [c.depths, c.hidden_sizes, c.patch_sizes, c.strides, c.padding].every(
        ({ length }) => length === c.num_encoder_blocks,
      ),
    { message: 'lists of stages are of another length', path: ['num_encoder_blocks'] },
  );
type Config = z.output<typeof config>;

const BASE = 'poolformer.encoder.';

/** Over all channels and positions together. */
const norm = (g: GraphWriter, x: Value, name: string, width: number): Value =>
  groupNorm(g, x, name, { width, groups: 1, epsilon: 1e-5 });

/** Means of neighbours in place of attention. */
function layer(g: GraphWriter, x: Value, c: Config, { name, width }: { name: string; width: number }): Value {
  const at = (part: string) => `${name}.${part}`;
  const inner = Math.trunc(width * c.mlp_ratio);
  const added = (to: Value, found: Value, number: number) => {
    if (!c.use_layer_scale) return g.node('Add', [to, found]);
    const scale = g.node('Reshape', [g.weight(at(`layer_scale_${number}`), [width]), g.ints([width, 1, 1])]);
    return g.node('Add', [to, g.node('Mul', [scale, found])]);
  };
  const edge = c.pool_size;
  const half = Math.floor(edge / 2);
  const read = norm(g, x, at('before_norm'), width);
  const mean = g.node('AveragePool', [read], {
    ...{ kernel_shape: [edge, edge], strides: [1, 1], pads: [half, half, half, half], count_include_pad: 0 },
  });
  const middle = added(x, g.node('Sub', [mean, read]), 1);
  const normed = norm(g, middle, at('after_norm'), width);
  const wide = convolution(g, normed, at('output.conv1'), { from: width, to: inner, kernel: [1, 1] });
  const active = activation(g, wide, c.hidden_act);
  const narrow = convolution(g, active, at('output.conv2'), { from: inner, to: width, kernel: [1, 1] });
  return added(middle, narrow, 2);
}

function statesOf(g: GraphWriter, c: Config): Value {
  let x = imageInput(g, c.num_channels);
  c.hidden_sizes.forEach((width, stage) => {
    const padding = c.padding[stage]!;
    x = convolution(g, x, `${BASE}patch_embeddings.${stage}.projection`, {
      ...{ from: c.hidden_sizes[stage - 1] ?? c.num_channels, to: width },
      ...{ kernel: c.patch_sizes[stage]!, stride: c.strides[stage]!, padding: [padding, padding] },
    });
    for (let i = 0; i < c.depths[stage]!; i++)
      x = layer(g, x, c, { name: `${BASE}block.${stage}.${i}`, width });
  });
  return x;
}

function modelOf(c: Config): ImageModel {
  const own = { width: c.hidden_sizes.at(-1)!, labels: labelCount(c) };
  return {
    ...{ ...own, shape: ['rows', own.width, 'lines', 'columns'], states: (g) => statesOf(g, c) },
    classify: (g, states) => {
      const normed = norm(g, states, 'norm', own.width);
      return labelScores(g, g.node('ReduceMean', [normed, g.ints([2, 3])], { keepdims: 0 }), own);
    },
  };
}

/** modeling_poolformer.py */
export const poolformer = defineFamily({
  ...{
    modelTypes: ['poolformer'],
    readers: { processor: 'PoolFormer' },
    config,
    prefixes: ['poolformer.'],
    heads: imageHeads(modelOf),
  },
});
