import * as z from 'zod';
import { activation } from '../../layers/activation.js';
import type { Projected } from '../../layers/cached-attention.js';
import { decoderHeads } from './decoder-heads.js';
import type { Decoder } from './decoder.js';
import type { DecoderInputs } from '../../layers/decoder-inputs.js';
import { headWidth } from '../../layers/head-sizes.js';
import { embedding, linear, tableScores } from '../../layers/linear.js';
import { layerNorm } from '../../layers/norm.js';
import type { RotaryConfig } from '../../layers/rope-frequencies.js';
import { selfAttention } from '../../layers/self-attention.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { labelCount, labels, layers, size } from '../../config-fields.js';

/** Decoders with LayerNorms whose attention and feed-forward may stand side by side: x + attention + feed-forward. */

export type Name = (name: string) => string;

/** What tells them apart. Names are those of a layer. */
export interface ParallelDecoder {
  /** Of the model's parts, without its prefix. */
  names: { embed: string; layers: string; norm: string; output: string };
  prefix: string;
  tie: boolean;
  layers: number;
  vocabulary: number;
  width: number;
  heads: number;
  keyHeads: number;
  epsilon: number;
  labels: number;
  padId: number | undefined;
  /** The answer's scores have a bias. */
  scoresBias?: boolean | undefined;
  rotary: RotaryConfig | undefined;
  /** In place of the usual mask: what is added to scores, float32 [rows, key heads, heads of each, tokens, all tokens]. */
  mask?: ((g: GraphWriter, inputs: DecoderInputs) => Value) | undefined;
  /** Neighbours of a head are turned as pairs. */
  interleaved?: boolean | undefined;
  /** Norms before attention and before feed-forward; the same one twice where they share it; undefined: after attention. */
  norms: { attention: string; feedForward: string };
  /** True where feed-forward reads what attention reads, not what it gives. */
  parallel: boolean;
  project(g: GraphWriter, x: Value, at: Name): Projected;
  output(g: GraphWriter, x: Value, at: Name): Value;
  feedForward(g: GraphWriter, x: Value, at: Name): Value;
}

/** What the tasks want of such a model. */
export const parallelHeads = <C>(modelOf: (config: C) => ParallelDecoder) =>
  decoderHeads<C>((config) => decoderOf(modelOf(config)));

function decoderOf(family: ParallelDecoder): Decoder {
  const { names, prefix, width, vocabulary, heads, keyHeads, labels: count, padId } = family;
  const norm = { width, epsilon: family.epsilon };
  return {
    ...{
      layers: family.layers,
      width,
      vocabulary,
      labels: count,
      padId,
      keyHeads,
      headWidth: headWidth(width, heads),
    },
    embed: (g, ids) => embedding(g, ids, prefix + names.embed, { rows: vocabulary, width }),
    layer: (g, x, layer, inputs) => writeLayer(g, x, inputs, { family, layer }),
    finish: (g, x) => layerNorm(g, x, prefix + names.norm, norm),
    scores(g, x) {
      const tables = { own: `${names.output}.weight`, tied: `${prefix + names.embed}.weight` };
      const scores = tableScores(g, x, tables, { rows: vocabulary, width, tie: family.tie });
      if (!family.scoresBias) return scores;
      return g.node('Add', [scores, g.weight(`${names.output}.bias`, [vocabulary])]);
    },
  };
}

function writeLayer(
  g: GraphWriter,
  x: Value,
  inputs: DecoderInputs,
  { family, layer }: { family: ParallelDecoder; layer: number },
): Value {
  const { names, prefix, norms, width, heads, keyHeads, parallel, rotary, interleaved } = family;
  const at: Name = (name) => `${prefix}${names.layers}.${layer}.${name}`;
  const normed = (value: Value, name: string) =>
    layerNorm(g, value, at(name), { width, epsilon: family.epsilon });
  const read = normed(x, norms.attention);
  const ofHead = headWidth(width, heads);
  const size = { layer, heads, keyHeads, width: ofHead, scale: ofHead ** -0.5, interleaved };
  const projected = family.project(g, read, at);
  const masked = { ...size, rotary, mask: family.mask?.(g, inputs) };
  const attended = family.output(g, selfAttention(g, inputs, projected, masked), at);
  const sum = g.node('Add', [x, attended]);
  const own = norms.feedForward === norms.attention ? read : normed(parallel ? x : sum, norms.feedForward);
  return g.node('Add', [sum, family.feedForward(g, own, at)]);
}

export const common = {
  ...labels,
  ...{ vocab_size: size, hidden_size: size, num_hidden_layers: layers, num_attention_heads: size },
  pad_token_id: z.int().nullish(),
  tie_word_embeddings: z.boolean().default(false),
};

export const sizesOf = (c: z.output<z.ZodObject<typeof common>>) => ({
  layers: c.num_hidden_layers,
  vocabulary: c.vocab_size,
  width: c.hidden_size,
  heads: c.num_attention_heads,
  labels: labelCount(c),
  padId: c.pad_token_id ?? undefined,
  tie: c.tie_word_embeddings,
});

/** Two layers with an activation between them. */
export const twoLayers =
  ({ names, width, inner, act, bias }: TwoLayers) =>
  (g: GraphWriter, x: Value, at: Name): Value => {
    const wide = linear(g, x, at(names[0]), { from: width, to: inner, bias });
    return linear(g, activation(g, wide, act), at(names[1]), { from: inner, to: width, bias });
  };

export interface TwoLayers {
  names: readonly [string, string];
  width: number;
  inner: number;
  act: string;
  bias: boolean;
}
