import * as z from 'zod';
import { textHeads, type TextModel } from '../bases/encoder/encoder-heads.js';
import { epsilon, layers, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { attention } from '../layers/attention.js';
import { headWidth } from '../layers/head-sizes.js';
import { embedding, linear } from '../layers/linear.js';
import { layerNorm, skipLayerNorm } from '../layers/norm.js';
import { rotary, rotate } from '../layers/rope.js';
import { rotaryConfig } from '../layers/rope-frequencies.js';
import { splitRows } from '../layers/fused-projections.js';
import { gatedFeedForward } from '../layers/swiglu.js';
import { textInputs, textPositions } from '../layers/text-inputs.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

const config = z.object({
  ...rotaryConfig,
  ...{ vocab_size: size.default(30_528), type_vocab_size: size.default(2) },
  ...{ hidden_size: size.default(768), intermediate_size: size.default(3072) },
  ...{ num_hidden_layers: layers.default(12), num_attention_heads: size.default(12) },
  head_dim: size.nullish(),
  hidden_act: z.string().default('silu'),
  layer_norm_eps: epsilon.default(1e-12),
  max_position_embeddings: size.default(2048),
  rope_theta: z.number().positive().default(1000),
});
type Config = z.output<typeof config>;

interface Layer {
  at(name: string): string;
  ids: Value;
  padding: Value;
  c: Config;
}

function attend(g: GraphWriter, x: Value, { at, ids, padding, c }: Layer): Value {
  const { hidden_size: from, num_attention_heads: heads } = c;
  const width = c.head_dim ?? headWidth(from, heads);
  const fused = linear(g, x, at('attn.Wqkv'), { from, to: 3 * heads * width, bias: false });
  const { query, key, value } = splitRows(g, fused, { heads, keyHeads: heads, width });
  const positions = textPositions(g, ids);
  const rotated = (part: Value) => rotate(g, part, rotary(g, positions, c, width), { heads, width });
  const attended = attention(
    g,
    { query: rotated(query), key: rotated(key), value },
    { heads, width: heads * width, padding },
  );
  return linear(g, attended, at('attn.out_proj'), { from: heads * width, to: from, bias: false });
}

/** Gates are the second of both layers. */
const NAMES = { gate: 'fc12', up: 'fc11', down: 'fc2' };

function statesOf(g: GraphWriter, c: Config): Value {
  const { ids, padding, types } = textInputs(g, { types: true });
  const [width, norm] = [c.hidden_size, { width: c.hidden_size, epsilon: c.layer_norm_eps }];
  const table = (of: Value, name: string, rows: number) =>
    embedding(g, of, `embeddings.${name}_embeddings`, { rows, width });
  const embedded = g.node('Add', [
    table(ids, 'word', c.vocab_size),
    table(types, 'token_type', c.type_vocab_size),
  ]);
  let x = layerNorm(g, embedded, 'emb_ln', norm);
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const at = (name: string) => `encoder.layers.${i}.${name}`;
    x = skipLayerNorm(g, [x, attend(g, x, { at, ids, padding, c })], at('norm1'), norm);
    const fed = gatedFeedForward(g, x, (name) => at(`mlp.${name}`), {
      ...{ width, inner: c.intermediate_size, act: c.hidden_act, names: NAMES },
    });
    x = skipLayerNorm(g, [x, fed], at('norm2'), norm);
  }
  return x;
}

const modelOf = (c: Config): TextModel => ({
  ...{ width: c.hidden_size, vocabulary: c.vocab_size, labels: 0 },
  states: (g) => statesOf(g, c),
});

/** Rotary positions, gated layers, norms behind both. modeling_nomic_bert.py, whose files keep the names of its makers */
export const nomicBert = defineFamily({
  modelTypes: ['nomic_bert'],
  config,
  prefixes: ['bert.'],
  heads: { embedding: textHeads(modelOf).embedding! },
});
