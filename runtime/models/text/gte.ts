import * as z from 'zod';
import { firstToken, textHeads, type TextModel } from '../bases/encoder/encoder-heads.js';
import { type FillNames, twoLayerClassifier, vocabularyScores } from '../bases/encoder/bert-layer.js';
import { rotaryEncoder, rotaryEncoderConfig } from '../bases/encoder/rotary-encoder.js';
import { epsilon, labelCount, labels, layers, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { linear } from '../layers/linear.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

const fields = {
  ...{ ...labels, ...rotaryEncoderConfig },
  ...{ hidden_size: size.default(768), intermediate_size: size.default(3072) },
  ...{ num_hidden_layers: layers.default(12), num_attention_heads: size.default(12) },
  ...{ hidden_act: z.string().default('gelu'), layer_norm_eps: epsilon.default(1e-12) },
  max_position_embeddings: size.default(8192),
};

const config = z.object({
  ...fields,
  ...{ vocab_size: size.default(250_048), type_vocab_size: z.int().min(0).max(1024).default(1) },
  rope_theta: z.number().positive().default(160_000),
});

/** Its makers' files, whose code knows other networks, too. */
const newConfig = z.object({
  ...fields,
  ...{ vocab_size: size.default(30_528), type_vocab_size: z.int().min(0).max(1024).default(0) },
  max_position_embeddings: size.default(2048),
  rope_theta: z.number().positive().default(10_000),
  pack_qkv: z.literal(true, 'queries, keys and values apart are not known').default(true),
  position_embedding_type: z.literal('rope', 'other positions than rope are not known').default('rope'),
  layer_norm_type: z.literal('layer_norm', 'other norms are not known').default('layer_norm'),
  logn_attention_scale: z.literal(false, 'scores that grow with the length are not known').default(false),
  rope_scaling: z.record(z.string(), z.unknown()).nullish(),
});

type Config = z.output<typeof config>;

/** Rows of what is given on stand before those of gates. */
function feedForward(g: GraphWriter, x: Value, at: (name: string) => string, c: Config): Value {
  const { hidden_size: width, intermediate_size: inner } = c;
  const both = linear(g, x, at('mlp.up_gate_proj'), { from: width, to: 2 * inner, bias: false });
  const [up, gate] = g.nodes('Split', [both, g.ints([inner, inner])], {
    ...{ outputs: 2, attributes: { axis: -1 } },
  }) as [Value, Value];
  const product = g.node('Mul', [activation(g, gate, c.hidden_act), up]);
  return linear(g, product, at('mlp.down_proj'), { from: inner, to: width });
}

const SCORES: FillNames = {
  ...{ dense: 'lm_head.dense', norm: 'lm_head.norm', own: 'lm_head.decoder.weight' },
  ...{ tied: 'new.embeddings.word_embeddings.weight', bias: ['lm_head.decoder.bias'] },
};

const modelOf = (c: Config): TextModel => {
  const sizes = { width: c.hidden_size, vocabulary: c.vocab_size, labels: labelCount(c) };
  const scores = { ...sizes, embedded: c.hidden_size, epsilon: c.layer_norm_eps, act: 'gelu' };
  return {
    ...sizes,
    states: (g) =>
      rotaryEncoder(g, c, {
        ...{ prefix: 'new.', norm: 'embeddings.LayerNorm', layer: 'encoder.layer', bias: true },
        names: { all: 'attention.qkv_proj', output: 'attention.o_proj', norms: ['attn_ln', 'mlp_ln'] },
        feedForward: (inner, x, at) => feedForward(inner, x, at, c),
      }),
    classify: (g, states) =>
      twoLayerClassifier(g, firstToken(g, states), {
        ...{ dense: 'new.pooler.dense', output: 'classifier', ...sizes, act: 'tanh' },
      }),
    fill: (g, states) => vocabularyScores(g, states, SCORES, scores),
  };
};

const { 'question-answering': _, ...heads } = textHeads(modelOf);
const names = { parts: { 'new.': ['new.', 'gte.', ''] } };

/** Rotary positions, gated layers, norms behind both. modeling_gte.py, whose files keep the names of its makers */
export const gte = defineFamily({ modelTypes: ['gte'], config, prefixes: [], ...names, heads });

/** The same as its makers publish it, with code of their own ("new-impl"). */
export const newGte = defineFamily({ modelTypes: ['new'], config: newConfig, prefixes: [], ...names, heads });
