import * as z from 'zod';
import type { Decoder } from '../bases/decoder/decoder.js';
import { decoderHeads } from '../bases/decoder/decoder-heads.js';
import { windowConfig, windowOf } from '../bases/decoder/llama-config.js';
import { epsilon, layers, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import type { DecoderInputs } from '../layers/decoder-inputs.js';
import { headWidth } from '../layers/head-sizes.js';
import { linear, tableScores } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { selfAttention } from '../layers/self-attention.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { embedded, feedForward, head, normOf } from './modernbert.js';

const theta = z.number().positive();

/** Tokens that a layer with a window sees before its own; null: all. */
const halfWindow = ({ local_attention: both }: { local_attention: number | null }): number | null =>
  both === null ? null : Math.floor(both / 2);

const config = z
  .object({
    ...{ vocab_size: size.default(50_368), hidden_size: size.default(768) },
    ...{ intermediate_size: size.default(1152), num_hidden_layers: layers.default(22) },
    num_attention_heads: size.default(12),
    hidden_activation: z.string().default('gelu'),
    max_position_embeddings: size.default(8192),
    ...{ norm_eps: epsilon.default(1e-5), norm_bias: z.boolean().default(false) },
    ...{ rope_theta: theta.default(160_000), rope_local_base_freq: theta.nullable().default(10_000) },
    ...{ attention_bias: z.boolean().default(false), mlp_bias: z.boolean().default(false) },
    global_attn_every_n_layers: z.int().min(1).default(3),
    layer_types: windowConfig.layer_types,
    local_attention: z.int().min(2).nullable().default(128),
    sliding_window: z.int().nullish(),
    decoder_bias: z.boolean().default(true),
    classifier_bias: z.boolean().default(false),
    classifier_activation: z.string().default('gelu'),
    tie_word_embeddings: z.boolean().default(true),
  })
  .refine((c) => c.sliding_window == null || c.sliding_window === (halfWindow(c) ?? -1), {
    path: ['sliding_window'],
    error: 'is another width than half of local_attention: transformers 4 reads the latter, 5 the former',
  });
type Config = z.output<typeof config>;

interface Layer {
  c: Config;
  layer: number;
  /** Tokens that it sees; undefined: all before. */
  window: number | undefined;
  at(name: string): string;
}

function attend(g: GraphWriter, x: Value, inputs: DecoderInputs, of: Layer): Value {
  const { c } = of;
  const { hidden_size: width, num_attention_heads: heads, attention_bias: bias } = c;
  const project = (name: string) => linear(g, x, of.at(`attn.${name}`), { from: width, to: width, bias });
  const projected = { query: project('q_proj'), key: project('k_proj'), value: project('v_proj') };
  const { max_position_embeddings, rope_theta, rope_local_base_freq: local } = c;
  const own = headWidth(width, heads);
  const attended = selfAttention(g, inputs, projected, {
    ...{ layer: of.layer, heads, keyHeads: heads, width: own, scale: own ** -0.5, window: of.window },
    rotary: { max_position_embeddings, rope_theta: of.window && local ? local : rope_theta },
  });
  return linear(g, attended, of.at('attn.Wo'), { from: width, to: width, bias });
}

function writeLayer(g: GraphWriter, x: Value, inputs: DecoderInputs, of: Layer): Value {
  const { c } = of;
  const read = of.layer === 0 ? x : layerNorm(g, x, of.at('attn_norm'), normOf(c));
  const middle = g.node('Add', [x, attend(g, read, inputs, of)]);
  const fed = feedForward(g, layerNorm(g, middle, of.at('mlp_norm'), normOf(c)), of.at, c);
  return g.node('Add', [middle, fed]);
}

const TABLES = { own: 'decoder.weight', tied: 'model.embeddings.tok_embeddings.weight' };

function scores(g: GraphWriter, x: Value, c: Config): Value {
  const { hidden_size: width, vocab_size: rows } = c;
  const read = head(g, x, 'lm_head', c);
  const plain = tableScores(g, read, TABLES, { rows, width, tie: c.tie_word_embeddings });
  return c.decoder_bias ? g.node('Add', [plain, g.weight('decoder.bias', [rows])]) : plain;
}

function decoderOf(c: Config): Decoder {
  const { hidden_size: width, vocab_size: vocabulary, num_attention_heads: heads } = c;
  // As in Python, half of what encoders of this kind see to both sides.
  const windowAt = windowOf(
    { ...c, sliding_window: halfWindow(c) },
    (i) => i % c.global_attn_every_n_layers !== 0,
  );
  return {
    ...{ layers: c.num_hidden_layers, width, vocabulary, labels: 0, padId: undefined },
    ...{ keyHeads: heads, headWidth: headWidth(width, heads) },
    embed: (g, ids) => embedded(g, ids, c),
    layer: (g, x, layer, inputs) => {
      const at = (name: string) => `model.layers.${layer}.${name}`;
      return writeLayer(g, x, inputs, { c, layer, window: windowAt(layer), at });
    },
    finish: (g, x) => layerNorm(g, x, 'model.final_norm', normOf(c)),
    scores: (g, x) => scores(g, x, c),
  };
}

// Its classifier has a head of its own, which no reference model here has.
const { 'causal-lm': languageModel, embedding: states } = decoderHeads(decoderOf);

/** ModernBERT that sees what comes before. modeling_modernbert_decoder.py */
export const modernbertDecoder = defineFamily({
  modelTypes: ['modernbert-decoder'],
  config,
  prefixes: ['model.'],
  heads: { 'causal-lm': languageModel, embedding: states },
});
