import * as z from 'zod';
import { activation } from '../../layers/activation.js';
import { attention } from '../../layers/attention.js';
import { gatedFeedForward } from '../../layers/swiglu.js';
import { linear, lookedUp, multiplied } from '../../layers/linear.js';
import { rmsNorm } from '../../layers/norm.js';
import { bucketBiasByRow, relativeBuckets } from '../../layers/t5-relative-bias.js';
import type { Seq2Seq } from './encoder-decoder-heads.js';
import type { DecoderState, Triple } from '../../layers/cross-decoder.js';
import { distances, type TextInputs } from '../../layers/text-inputs.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { epsilon, layers, size } from '../../config-fields.js';

export const t5Config = z.object({
  ...{ vocab_size: size, d_model: size, d_kv: size, d_ff: size, num_layers: layers, num_heads: size },
  num_decoder_layers: layers.nullish(),
  relative_attention_num_buckets: z.int().min(4).max(4096).default(32),
  relative_attention_max_distance: z
    .int()
    .min(4)
    .max(2 ** 20)
    .default(128),
  layer_norm_epsilon: epsilon.default(1e-6),
  feed_forward_proj: z.string().default('relu'),
  /** What that comes to; where a file says both, Python goes by these. */
  ...{ dense_act_fn: z.string().nullish(), is_gated_act: z.boolean().nullish() },
  tie_word_embeddings: z.boolean().default(true),
  scale_decoder_outputs: z.boolean().nullish(),
  model_type: z.string(),
});
export type T5Config = z.output<typeof t5Config>;

type Side = 'encoder' | 'decoder';

interface Place {
  side: Side;
  block: number;
}

/** Where models like T5 have other layers. */
export interface T5Parts {
  /** Attention of the encoder, without its last layer: float32 [rows, tokens, heads · d_kv]. */
  encoderAttention?: { at: string; attend(g: GraphWriter, read: Value, of: T5Layer): Value };
  /** float32 [rows, tokens, d_model] of the same. @param name of the layer's tensors, as they begin */
  feedForward?(g: GraphWriter, read: Value, name: string, of: Place): Value;
  /** Scores are made with the table of tokens where a file has no table of their own, whatever it says. */
  sharesTable?: boolean;
  /** Each side reads its tokens from a table of its own. */
  ownTables?: boolean;
}

export interface T5Layer {
  /** Of the attention's tensors, as they begin. */
  name: string;
  inputs: TextInputs;
  /** What distances add to scores: float32 [1, heads, tokens, tokens]. */
  bias: Value;
  project(x: Value): Triple;
}

/** What a network is written of. */
export type T5Network = T5Config & { parts?: T5Parts };

/** `gated-gelu` means the approximation by tanh. */
function feedForwardOf(c: T5Config): { act: string; gated: boolean } {
  const { feed_forward_proj: kind } = c;
  const isGated = kind.startsWith('gated-');
  const named = isGated ? kind.slice('gated-'.length) : kind;
  const act = kind === 'gated-gelu' ? 'gelu_new' : named;
  return { gated: c.is_gated_act ?? isGated, act: c.dense_act_fn ?? act };
}

/** Writers of a block's parts, each x + part(norm(x)). */
function blockOf(g: GraphWriter, of: Place, c: T5Network) {
  const { d_model: width, d_ff: inner } = c;
  const whole = c.num_heads * c.d_kv;
  const { act, gated } = feedForwardOf(c);
  const name = `${of.side}.block.${of.block}`;
  const added = (x: Value, layer: string, write: (read: Value) => Value) => {
    const read = rmsNorm(g, x, `${name}.${layer}.layer_norm`, { width, epsilon: c.layer_norm_epsilon });
    return g.node('Add', [x, write(read)]);
  };
  return {
    project: (x: Value, layer: string) =>
      linear(g, x, `${name}.${layer}`, { from: width, to: whole, bias: false }),
    attend: (x: Value, layer: string, at: string, attend: (read: Value) => Value) =>
      added(x, layer, (read) => {
        const size = { from: whole, to: width, bias: false };
        return linear(g, attend(read), `${name}.${layer}.${at}.o`, size);
      }),
    feedForward: (x: Value, layer: string) =>
      added(x, layer, (read) => {
        if (c.parts?.feedForward) return c.parts.feedForward(g, read, `${name}.${layer}`, of);
        const at = (part: string) => `${name}.${layer}.DenseReluDense.${part}`;
        if (gated) {
          const names = { gate: 'wi_0', up: 'wi_1', down: 'wo' };
          return gatedFeedForward(g, read, at, { width, inner, act, names });
        }
        const wide = linear(g, read, at('wi'), { from: width, to: inner, bias: false });
        return linear(g, activation(g, wide, act), at('wo'), { from: inner, to: width, bias: false });
      }),
  };
}

function selfOf({ project }: ReturnType<typeof blockOf>, x: Value, at = 'SelfAttention'): Triple {
  const one = (letter: string) => project(x, `layer.0.${at}.${letter}`);
  return { query: one('q'), key: one('k'), value: one('v') };
}

/** The table of distances of a block; T5 has one for all blocks, UMT5 one for each. */
function biasOf(g: GraphWriter, distance: Value, of: Place, c: T5Network): Value {
  const block = c.model_type === 'umt5' ? of.block : 0;
  return g.once(`bias ${of.side} ${block}`, () => {
    const count = c.relative_attention_num_buckets;
    const at = of.side === 'encoder' ? (c.parts?.encoderAttention?.at ?? 'SelfAttention') : 'SelfAttention';
    const name = `${of.side}.block.${block}.layer.0.${at}.relative_attention_bias.weight`;
    const buckets = g.once(`buckets ${of.side}`, () =>
      relativeBuckets(g, distance, {
        ...{ count, farthest: c.relative_attention_max_distance, bothWays: of.side === 'encoder' },
      }),
    );
    return bucketBiasByRow(g, buckets, g.weight(name, [count, c.num_heads]));
  });
}

const tokensOf = (g: GraphWriter, ids: Value, c: T5Network, side: Side): Value =>
  lookedUp(g, ids, tableName(g, side, c), { rows: c.vocab_size, width: c.d_model });

function tableName(g: GraphWriter, side: Side, { parts }: T5Network): string {
  const own = `${side}.embed_tokens.weight`;
  if (parts?.ownTables) return own;
  return g.weights.has('shared.weight') ? 'shared.weight' : own;
}

/** The states of all tokens. */
export function t5States(g: GraphWriter, inputs: TextInputs, c: T5Network): Value {
  const { ids, padding } = inputs;
  const { at = 'SelfAttention', attend } = c.parts?.encoderAttention ?? {};
  const sizes = { heads: c.num_heads, width: c.num_heads * c.d_kv, scale: 1 };
  let x = tokensOf(g, ids, c, 'encoder');
  for (let i = 0; i < c.num_layers; i++) {
    const of: Place = { side: 'encoder', block: i };
    const block = blockOf(g, of, c);
    const bias = biasOf(g, g.node('Unsqueeze', [distances(g, ids), g.ints([0])]), of, c);
    const project = (read: Value) => selfOf(block, read, at);
    x = block.attend(x, 'layer.0', at, (read) =>
      attend
        ? attend(g, read, { name: `encoder.block.${i}.layer.0.${at}`, inputs, bias, project })
        : attention(g, project(read), { ...sizes, padding, bias }),
    );
    x = block.feedForward(x, 'layer.1');
  }
  return finish(g, x, 'encoder', c);
}

function decode(g: GraphWriter, ids: Value, state: DecoderState, c: T5Network): Value {
  let x = tokensOf(g, ids, c, 'decoder');
  for (let i = 0; i < c.num_decoder_layers!; i++) {
    const of: Place = { side: 'decoder', block: i };
    const block = blockOf(g, of, c);
    const bias = biasOf(g, state.distances(), of, c);
    x = block.attend(x, 'layer.0', 'SelfAttention', (read) => state.attendSelf(i, selfOf(block, read), bias));
    x = block.attend(x, 'layer.1', 'EncDecAttention', (read) =>
      state.attendSource(i, block.project(read, 'layer.1.EncDecAttention.q')),
    );
    x = block.feedForward(x, 'layer.2');
  }
  return finish(g, x, 'decoder', c);
}

const finish = (g: GraphWriter, x: Value, side: Side, c: T5Network): Value =>
  rmsNorm(g, x, `${side}.final_layer_norm`, { width: c.d_model, epsilon: c.layer_norm_epsilon });

const OWN_SCORES = 'lm_head.weight';

/** The graph's parts, as encoder-decoder-heads.ts puts them together. */
export function t5Model(given: T5Network): Seq2Seq {
  const c = { ...given, num_decoder_layers: given.num_decoder_layers ?? given.num_layers };
  return {
    ...{ width: c.d_model, vocabulary: c.vocab_size, decoderLayers: c.num_decoder_layers },
    ...{ heads: c.num_heads, headWidth: c.d_kv, scale: 1 },
    encode: (g, inputs) => t5States(g, inputs, c),
    projectSource(g, layer, states) {
      const { project } = blockOf(g, { side: 'decoder', block: layer }, c);
      const one = (letter: string) => project(states, `layer.1.EncDecAttention.${letter}`);
      return { key: one('k'), value: one('v') };
    },
    decode: (g, ids, state) => decode(g, ids, state, c),
    scores(g, x) {
      const { tie_word_embeddings: tie, scale_decoder_outputs: isScaled } = c;
      const isShared = tie || (c.parts?.sharesTable && !g.weights.has(OWN_SCORES));
      const name = isShared ? tableName(g, 'decoder', c) : OWN_SCORES;
      const scaled = (isScaled ?? tie) ? g.node('Mul', [x, g.scalar(c.d_model ** -0.5)]) : x;
      return multiplied(g, scaled, name, { rows: c.vocab_size, columns: c.d_model, isTable: true });
    },
  };
}
