import * as z from 'zod';
import { defineFamily } from '../../family.js';
import { batchNorm, normedConvolution } from '../../layers/convolution.js';
import { linear } from '../../layers/linear.js';
import { meanToken, imageHeads } from '../../bases/vision/image-heads.js';
import type { ImageModel } from '../../bases/vision/image-encoder.js';
import { imageInput, tokensOf } from '../../layers/patch-embed.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { labelCount, labels } from '../../config-fields.js';
import { channels } from '../../bases/vision/vit-config.js';
import { type LevitAttention, levitAttention, normedLinear } from './attention.js';

const three = (given: readonly [number, number, number], least = 1) => {
  const one = z.int().min(least).max(65_536);
  return z.tuple([one, one, one]).default([...given]);
};

const config = z.object({
  ...labels,
  image_size: z.int().min(1).max(4096).default(224),
  patch_size: z.int().min(1).max(4096).default(16),
  num_channels: channels,
  kernel_size: z.int().min(1).max(64).default(3),
  stride: z.int().min(1).max(64).default(2),
  padding: z.int().min(0).max(64).default(1),
  hidden_sizes: three([128, 256, 384]),
  num_attention_heads: three([4, 8, 12]),
  depths: three([4, 4, 4], 0),
  key_dim: three([16, 16, 16]),
  mlp_ratio: three([2, 2, 2], 0),
  attention_ratio: three([2, 2, 2]),
});
type Config = z.output<typeof config>;

const BASE = 'levit.';
/** Between stages: values of so many keys' width, a mlp so much wider, and tokens so many lines apart. */
const [RATIO, WIDER, STRIDE] = [4, 2, 2];

/** Convolutions with a norm each: float32 [rows, tokens, width]. */
function embedded(g: GraphWriter, c: Config): Value {
  const { hidden_sizes: sizes, kernel_size: kernel, stride, padding } = c;
  let x = imageInput(g, c.num_channels, [c.image_size, c.image_size]);
  let from = c.num_channels;
  for (const [i, part] of [8, 4, 2, 1].entries()) {
    const at = `${BASE}patch_embeddings.embedding_layer_${i + 1}`;
    const [to, act] = [Math.floor(sizes[0] / part), part === 1 ? undefined : 'hard_swish'];
    const names = { convolution: `${at}.convolution`, norm: `${at}.batch_norm` };
    x = normedConvolution(g, x, names, { from, to, kernel, stride, padding, act });
    from = to;
  }
  return tokensOf(g, x);
}

interface Wide {
  name: string;
  width: number;
  ratio: number;
  tokens: number;
}

/** x and what a mlp makes of it. */
function fed(g: GraphWriter, x: Value, { name, width, ratio, tokens }: Wide): Value {
  const size = { from: width, to: width * ratio, tokens };
  const wide = g.node('HardSwish', [normedLinear(g, x, `${name}.module.linear_up`, size)]);
  const narrow = { from: size.to, to: width, tokens };
  return g.node('Add', [x, normedLinear(g, wide, `${name}.module.linear_down`, narrow)]);
}

/** Tokens of each stage look at each other; between stages every second line's and column's go on. */
function statesOf(g: GraphWriter, c: Config): Value {
  let x = embedded(g, c);
  let edge = Math.floor(c.image_size / c.patch_size);
  c.hidden_sizes.forEach((width, stage) => {
    let count = 0;
    const next = () => `${BASE}encoder.stages.${stage}.layers.${count++}`;
    const own = {
      from: width,
      to: width,
      edge,
      keys: c.key_dim[stage]!,
      heads: c.num_attention_heads[stage]!,
    };
    for (let i = 0; i < c.depths[stage]!; i++) {
      const of: LevitAttention = { ...own, ratio: c.attention_ratio[stage]!, name: `${next()}.module` };
      x = g.node('Add', [x, levitAttention(g, x, of)]);
      const ratio = c.mlp_ratio[stage]!;
      if (ratio > 0) x = fed(g, x, { name: next(), width, ratio, tokens: edge ** 2 });
    }
    const to = c.hidden_sizes[stage + 1];
    if (to === undefined) return;
    const keys = c.key_dim[0];
    const heads = Math.floor(width / keys);
    x = levitAttention(g, x, {
      from: width,
      to,
      edge,
      keys,
      heads,
      ratio: RATIO,
      name: next(),
      stride: STRIDE,
    });
    edge = Math.floor((edge - 1) / STRIDE) + 1;
    x = fed(g, x, { name: next(), width: to, ratio: WIDER, tokens: edge ** 2 });
  });
  return x;
}

function modelOf(c: Config): ImageModel {
  const own = { width: c.hidden_sizes[2], labels: labelCount(c) };
  const scores = (g: GraphWriter, x: Value, name: string) => {
    const normed = batchNorm(g, x, `${name}.batch_norm`, { width: own.width });
    return linear(g, normed, `${name}.linear`, { from: own.width, to: own.labels });
  };
  return {
    ...{ ...own, states: (g) => statesOf(g, c), pool: meanToken },
    classify: (g, states) => {
      const mean = meanToken(g, states);
      const found = scores(g, mean, 'classifier');
      if (!g.weights.has('classifier_distill.linear.weight')) return found;
      const sum = g.node('Add', [found, scores(g, mean, 'classifier_distill')]);
      return g.node('Mul', [sum, g.scalar(0.5)]);
    },
  };
}

/** modeling_levit.py */
export const levit = defineFamily({
  ...{
    modelTypes: ['levit'],
    readers: { processor: 'Levit' },
    config,
    prefixes: [BASE],
    heads: imageHeads(modelOf),
  },
  memory: { convolutional: true },
});
