import * as z from 'zod';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { decoderHeads } from '../bases/decoder/decoder-heads.js';
import type { Decoder } from '../bases/decoder/decoder.js';
import { headWidth } from '../layers/head-sizes.js';
import { embedding, linear, tableScores } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { selfAttention } from '../layers/self-attention.js';
import { GraphError } from '../writer/errors.js';
import { epsilon, labelCount, labels, layers, size } from '../config-fields.js';

const config = z.object({
  ...labels,
  vocab_size: size.default(50257),
  max_position_embeddings: size.default(2048),
  hidden_size: size.default(2048),
  num_layers: layers.default(24),
  num_heads: size.default(16),
  intermediate_size: size.nullish(),
  attention_types: z
    .array(z.tuple([z.array(z.enum(['global', 'local'])).min(1), z.int().min(1).max(1024)]))
    .max(1024)
    .default([[['global', 'local'], 12]]),
  /** What those come to; where a file says both, Python goes by this. */
  attention_layers: z
    .array(z.enum(['global', 'local']))
    .max(1024)
    .nullish(),
  window_size: z.int().min(1).default(256),
  activation_function: z.string().default('gelu_new'),
  layer_norm_epsilon: epsilon.default(1e-5),
  tie_word_embeddings: z.boolean().default(true),
  pad_token_id: z.int().nullish(),
});
type Config = z.output<typeof config>;

/** Whether each layer sees a window. @throws GraphError where there are more or fewer than layers */
function isLocal({ attention_layers, attention_types, num_layers: count }: Config): boolean[] {
  const expanded = attention_types.flatMap(([kinds, times]) =>
    Array.from({ length: times }, () => kinds).flat(),
  );
  const found = attention_layers ?? expanded;
  if (found.length === count) return found.map((kind) => kind === 'local');
  throw new GraphError(`config.json: attention_types are ${found.length} for ${count} layers`);
}

function decoderOf(c: Config): Decoder {
  const { hidden_size: width, vocab_size: vocabulary, num_heads: heads } = c;
  const inner = c.intermediate_size ?? 4 * width;
  const norm = { width, epsilon: c.layer_norm_epsilon };
  const counts = { heads, keyHeads: heads, width: headWidth(width, heads) };
  const local = isLocal(c);
  return {
    ...{ layers: c.num_layers, width, vocabulary, labels: labelCount(c), padId: c.pad_token_id ?? undefined },
    ...{ keyHeads: heads, headWidth: counts.width },
    embed: (g, ids) => embedding(g, ids, 'transformer.wte', { rows: vocabulary, width }),
    place(g, x, { positions }) {
      const rows = c.max_position_embeddings;
      return g.node('Add', [x, embedding(g, positions, 'transformer.wpe', { rows, width })]);
    },
    layer(g, x, layer, inputs) {
      const at = (name: string) => `transformer.h.${layer}.${name}`;
      const read = layerNorm(g, x, at('ln_1'), norm);
      const square = { from: width, to: width };
      const one = (letter: string) =>
        linear(g, read, at(`attn.attention.${letter}_proj`), { ...square, bias: false });
      const projected = { query: one('q'), key: one('k'), value: one('v') };
      // Scores are not scaled.
      const attended = selfAttention(g, inputs, projected, {
        ...{ layer, ...counts, scale: 1, window: local[layer] ? c.window_size : undefined },
      });
      const middle = g.node('Add', [x, linear(g, attended, at('attn.attention.out_proj'), square)]);
      const fed = layerNorm(g, middle, at('ln_2'), norm);
      const wide = linear(g, fed, at('mlp.c_fc'), { from: width, to: inner });
      const act = activation(g, wide, c.activation_function);
      return g.node('Add', [middle, linear(g, act, at('mlp.c_proj'), { from: inner, to: width })]);
    },
    finish: (g, x) => layerNorm(g, x, 'transformer.ln_f', norm),
    scores(g, x) {
      const names = { own: 'lm_head.weight', tied: 'transformer.wte.weight' };
      return tableScores(g, x, names, { rows: vocabulary, width, tie: c.tie_word_embeddings });
    },
  };
}

/** Learned positions; layers see a window or everything. modeling_gpt_neo.py */
export const gptNeo = defineFamily({
  modelTypes: ['gpt_neo'],
  readers: { positions: 'learned' },
  config,
  prefixes: ['transformer.'],
  heads: decoderHeads(decoderOf),
});
