import * as z from 'zod';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { decoderHeads } from '../bases/decoder/decoder-heads.js';
import type { Decoder } from '../bases/decoder/decoder.js';
import { headWidth } from '../layers/head-sizes.js';
import { embedding, linear, tableScores } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { selfAttention } from '../layers/self-attention.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { labelCount, labels, layers, size } from '../config-fields.js';

const config = z.object({
  ...labels,
  vocab_size: size,
  hidden_size: size,
  num_hidden_layers: layers,
  ffn_dim: size,
  max_position_embeddings: size.default(2048),
  num_attention_heads: size,
  do_layer_norm_before: z.boolean().default(true),
  _remove_final_layer_norm: z.boolean().default(false),
  word_embed_proj_dim: size.nullish(),
  activation_function: z.string().default('relu'),
  enable_bias: z.boolean().default(true),
  layer_norm_elementwise_affine: z.literal(true).default(true),
  tie_word_embeddings: z.boolean().default(true),
  pad_token_id: z.int().nullable().default(1),
});

/** Rows of the table of positions before the first one. */
const OFFSET = 2;

function decoderOf(c: z.output<typeof config>): Decoder {
  const { hidden_size: width, vocab_size: vocabulary, num_attention_heads: heads, enable_bias: bias } = c;
  const embedded = c.word_embed_proj_dim ?? width;
  const before = c.do_layer_norm_before;
  const at = (name: string) => `model.decoder.${name}`;
  const norm = { width, epsilon: 1e-5 };
  const counts = { heads, keyHeads: heads, width: headWidth(width, heads) };
  const project = (g: GraphWriter, x: Value, name: string, [from, to]: [number, number]) =>
    embedded === width ? x : linear(g, x, at(name), { from, to, bias: false });
  const layerOf = (layer: number) => (name: string) => at(`layers.${layer}.${name}`);
  return {
    ...{
      layers: c.num_hidden_layers,
      width,
      vocabulary,
      labels: labelCount(c),
      padId: c.pad_token_id ?? undefined,
    },
    ...{ keyHeads: heads, headWidth: counts.width },
    ...(embedded !== width && { vectorWidth: embedded }),
    embed: (g, ids) => embedding(g, ids, at('embed_tokens'), { rows: vocabulary, width: embedded }),
    place(g, tokens, { positions }) {
      const x = project(g, tokens, 'project_in', [embedded, width]);
      const rows = c.max_position_embeddings + OFFSET;
      const shifted = g.node('Add', [positions, g.ints([OFFSET], [])]);
      const learned = embedding(g, shifted, at('embed_positions'), { rows, width });
      return g.node('Add', [x, learned]);
    },
    layer(g, x, layer, inputs) {
      const name = layerOf(layer);
      const square = { from: width, to: width, bias };
      const normed = (value: Value, of: string, wanted: boolean) =>
        wanted ? layerNorm(g, value, name(of), norm) : value;
      const read = normed(x, 'self_attn_layer_norm', before);
      const one = (of: string) => linear(g, read, name(`self_attn.${of}_proj`), square);
      const projected = { query: one('q'), key: one('k'), value: one('v') };
      const attended = selfAttention(g, inputs, projected, { layer, ...counts, scale: counts.width ** -0.5 });
      const sum = g.node('Add', [x, linear(g, attended, name('self_attn.out_proj'), square)]);
      const middle = normed(sum, 'self_attn_layer_norm', !before);
      const fed = normed(middle, 'final_layer_norm', before);
      const wide = linear(g, fed, name('fc1'), { from: width, to: c.ffn_dim, bias });
      const act = activation(g, wide, c.activation_function);
      const end = g.node('Add', [middle, linear(g, act, name('fc2'), { from: c.ffn_dim, to: width, bias })]);
      return normed(end, 'final_layer_norm', !before);
    },
    finish(g, x) {
      const normed = before && !c._remove_final_layer_norm;
      const states = normed ? layerNorm(g, x, at('final_layer_norm'), norm) : x;
      return project(g, states, 'project_out', [width, embedded]);
    },
    scores(g, x) {
      const names = { own: 'lm_head.weight', tied: at('embed_tokens.weight') };
      return tableScores(g, x, names, { rows: vocabulary, width: embedded, tie: c.tie_word_embeddings });
    },
  };
}

/** Learned positions with an offset; older sizes have their norms behind. modeling_opt.py */
export const opt = defineFamily({
  modelTypes: ['opt'],
  readers: { positions: 'learned' },
  config,
  prefixes: ['model.'],
  decoder: decoderOf,
  heads: { 'causal-lm': decoderHeads(decoderOf)['causal-lm']! },
});
