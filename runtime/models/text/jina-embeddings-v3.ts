import * as z from 'zod';
import { textHeads, type TextModel } from '../bases/encoder/encoder-heads.js';
import { rotaryEncoder, rotaryEncoderConfig } from '../bases/encoder/rotary-encoder.js';
import { epsilon, labelCount, labels, layers, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { linear } from '../layers/linear.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { robertaHeads } from './roberta.js';

const config = z.object({
  ...{ ...labels, ...rotaryEncoderConfig },
  ...{ vocab_size: size.default(250_002), type_vocab_size: z.int().min(1).max(1024).default(1) },
  ...{ hidden_size: size.default(1024), intermediate_size: size.default(4096) },
  ...{ num_hidden_layers: layers.default(24), num_attention_heads: size.default(16) },
  ...{ hidden_act: z.string().default('gelu'), layer_norm_eps: epsilon.default(1e-5) },
  ...{ max_position_embeddings: size.default(8194), rope_theta: z.number().positive().default(20_000) },
});
type Config = z.output<typeof config>;

function feedForward(g: GraphWriter, x: Value, at: (name: string) => string, c: Config): Value {
  const { hidden_size: width, intermediate_size: inner } = c;
  const wide = linear(g, x, at('mlp.fc1'), { from: width, to: inner });
  return linear(g, activation(g, wide, c.hidden_act), at('mlp.fc2'), { from: inner, to: width });
}

const modelOf = (c: Config): TextModel => ({
  ...{ width: c.hidden_size, vocabulary: c.vocab_size, labels: labelCount(c) },
  states: (g) =>
    rotaryEncoder(g, c, {
      ...{ prefix: 'roberta.', norm: 'emb_ln', layer: 'encoder.layers', bias: true },
      names: { all: 'mixer.Wqkv', output: 'mixer.out_proj', norms: ['norm1', 'norm2'] },
      feedForward: (inner, x, at) => feedForward(inner, x, at, c),
    }),
  ...robertaHeads(c, 'roberta.'),
});

/** XLM-RoBERTa with rotary positions, norms behind both parts. modeling_jina_embeddings_v3.py, whose files keep the names of its makers */
export const jinaEmbeddingsV3 = defineFamily({
  modelTypes: ['jina_embeddings_v3'],
  config,
  prefixes: ['roberta.'],
  heads: textHeads(modelOf),
});
