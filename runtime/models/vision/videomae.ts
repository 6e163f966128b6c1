import * as z from 'zod';
import { type Family, defineFamily } from '../family.js';
import { attention } from '../layers/attention.js';
import { activation } from '../layers/activation.js';
import { linear, multiplied } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { labelScores, meanToken } from '../bases/vision/image-heads.js';
import { firstToken } from '../bases/encoder/encoder-heads.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';
import { vitConfig, vitSizes } from '../bases/vision/vit-config.js';
import { tubelets } from '../bases/vision/tubelet-embed.js';

const few = z.int().min(1).max(1024);

const config = z.object({
  ...vitConfig,
  num_frames: few.default(16),
  tubelet_size: few.default(2),
  use_mean_pooling: z.boolean().default(true),
});
type Config = z.output<typeof config>;

/** Of the norm before the labels. */
const EPSILON = 1e-5;
/** What the slowest wave of positions is slower by. */
const BASE = 10_000;

/** Parts of a turn that the larger part of a rate has, so that its product with a place of 12 bits is exact in float32. */
const PARTS = 2 ** 12;

/**
 * Waves of the positions of all patches, sines and cosines by turns: float32 [positions, width]. Python has the angles in double precision, which
 * for a thousand turns float32 has not: whole turns are left out before the rest is added.
 */
function waves(g: GraphWriter, count: number, width: number): Value {
  const rates = Array.from(
    { length: width },
    (_, i) => BASE ** (-(2 * Math.floor(i / 2)) / width) / (2 * Math.PI),
  );
  const large = rates.map((rate) => Math.round(rate * PARTS) / PARTS);
  const range = g.node('Range', [g.ints([0], []), g.ints([count], []), g.ints([1], [])]);
  const positions = g.node('Unsqueeze', [g.node('Cast', [range], { to: ELEMENTS.float32 }), g.ints([1])]);
  const whole = g.node('Mul', [positions, g.floats(large)]);
  const part = g.node('Sub', [whole, g.node('Floor', [whole])]);
  const rest = g.node('Mul', [positions, g.floats(rates.map((rate, i) => rate - large[i]!))]);
  // A cosine is a sine a quarter of a turn on.
  const start = g.floats(rates.map((_, i) => (i % 2) / 4));
  const turns = g.node('Add', [g.node('Add', [part, start]), rest]);
  return g.node('Sin', [g.node('Mul', [turns, g.scalar(2 * Math.PI)])]);
}

/** Patches of a few frames each: float32 [rows, patches, width]. */
function embedded(g: GraphWriter, c: Config): Value {
  const { hidden_size: width, patch_size: patch } = c;
  const size = { ...c, width, tubelet: [c.tubelet_size, ...patch] as const };
  const { tokens, count } = tubelets(g, 'videomae.embeddings.patch_embeddings.projection', size);
  return g.node('Add', [tokens, waves(g, count, width)]);
}

/** Biases stand beside the layers of queries and values, and keys have none. */
function layer(g: GraphWriter, x: Value, c: Config, at: (name: string) => string): Value {
  const { width, inner, heads, epsilon, act } = vitSizes(c);
  const square = { rows: width, columns: width };
  const read = layerNorm(g, x, at('layernorm_before'), { width, epsilon });
  const project = (name: string, bias?: string) => {
    const product = multiplied(g, read, at(`attention.attention.${name}.weight`), square);
    if (bias === undefined || !c.qkv_bias) return product;
    return g.node('Add', [product, g.weight(at(`attention.attention.${bias}`), [width])]);
  };
  const projected = {
    query: project('query', 'q_bias'),
    key: project('key'),
    value: project('value', 'v_bias'),
  };
  const found = attention(g, projected, { heads, width });
  const dense = linear(g, found, at('attention.output.dense'), { from: width, to: width });
  const middle = g.node('Add', [dense, x]);
  const normed = layerNorm(g, middle, at('layernorm_after'), { width, epsilon });
  const wide = activation(g, linear(g, normed, at('intermediate.dense'), { from: width, to: inner }), act);
  return g.node('Add', [linear(g, wide, at('output.dense'), { from: inner, to: width }), middle]);
}

/** float32 [rows, labels] */
function scores(g: GraphWriter, c: Config): Value {
  const sizes = vitSizes(c);
  let x = embedded(g, c);
  for (let i = 0; i < c.num_hidden_layers; i++)
    x = layer(g, x, c, (name) => `videomae.encoder.layer.${i}.${name}`);
  // What is pooled is normed behind that.
  const pooled = c.use_mean_pooling
    ? layerNorm(g, meanToken(g, x), 'fc_norm', { width: sizes.width, epsilon: EPSILON })
    : firstToken(g, layerNorm(g, x, 'videomae.layernorm', sizes));
  return labelScores(g, pooled, sizes);
}

const heads: Family<Config>['heads'] = {
  'video-classification': {
    model: (g, c) => g.output('logits', scores(g, c), 'float32', ['rows', vitSizes(c).labels]),
  },
};

/** modeling_videomae.py */
export const videomae = defineFamily({
  inert: [
    {
      fields: /^decoder_(?:hidden_size|intermediate_size|num_attention_heads|num_hidden_layers)$/,
      reason: 'the decoder of pretraining',
    },
  ],
  ...{ modelTypes: ['videomae'], usualTask: 'video-classification', config, prefixes: ['videomae.'], heads },
});
