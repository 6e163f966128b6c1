import * as z from 'zod';
import { layers, size } from '../config-fields.js';
import { activation } from '../layers/activation.js';
import type { DecoderState, Pair, SourceDecoder } from '../layers/cross-decoder.js';
import { headWidth } from '../layers/head-sizes.js';
import { embedding, linear, tableScores } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { ELEMENTS } from '../writer/tensors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { type ParakeetEncoder, parakeetSteps } from './parakeet.js';

/** Fields of the decoder, with the defaults of CohereAsrConfig and CanaryDecoderConfig. */
export const promptedDecoderFields = {
  ...{ vocab_size: size.default(16_384), hidden_size: size.multipleOf(4).default(1024) },
  ...{ num_hidden_layers: layers.default(8), num_attention_heads: size.default(8) },
  ...{ num_key_value_heads: size.nullish(), intermediate_size: size.default(4096) },
  ...{ hidden_act: z.string().default('relu'), max_position_embeddings: size.default(1024) },
  attention_bias: z.boolean().default(true),
};

/** Cohere's and Canary's decoder: BART's with the norms first, behind a norm of the embeddings. */
export interface PromptedDecoder extends z.output<z.ZodObject<typeof promptedDecoderFields>> {
  /** Width of a head; all heads together are as wide as the states if absent. */
  head_dim?: number | null | undefined;
  tie_word_embeddings: boolean;
  /** Vectors of positions int64 [rows or 1, tokens]: float32 [rows or 1, tokens, width]. */
  positions(g: GraphWriter, positions: Value): Value;
}

const EPSILON = 1e-5;

const at = (name: string) => `model.decoder.${name}`;

/** States of the encoder up to the last step that is no padding: float32 [rows, steps, width]. Rows are of one length. */
export function heardStates(g: GraphWriter, c: ParakeetEncoder): Value {
  const { states, seen } = parakeetSteps(g, c);
  const counts = g.node('ReduceSum', [g.node('Cast', [seen], { to: ELEMENTS.int64 }), g.ints([1])], {
    keepdims: 0,
  });
  const most = g.node('ReduceMax', [counts], { keepdims: 1 });
  return g.node('Slice', [states, g.ints([0]), most, g.ints([1])]);
}

const normed = (g: GraphWriter, x: Value, name: string, { hidden_size: width }: PromptedDecoder): Value =>
  layerNorm(g, x, name, { width, epsilon: EPSILON });

const widthOf = (c: PromptedDecoder): number => c.head_dim ?? headWidth(c.hidden_size, c.num_attention_heads);

const attentionWidth = (c: PromptedDecoder): number => c.num_attention_heads * widthOf(c);

/** A projection of attention: `q`, `k` or `v`. */
const projected = (g: GraphWriter, x: Value, name: string, c: PromptedDecoder): Value =>
  linear(g, x, `${name}_proj`, { from: c.hidden_size, to: attentionWidth(c), bias: c.attention_bias });

const pairOf = (g: GraphWriter, x: Value, name: string, c: PromptedDecoder): Pair => ({
  key: projected(g, x, `${name}.k`, c),
  value: projected(g, x, `${name}.v`, c),
});

const output = (g: GraphWriter, x: Value, name: string, c: PromptedDecoder): Value =>
  linear(g, x, `${name}.o_proj`, { from: attentionWidth(c), to: c.hidden_size, bias: c.attention_bias });

function feedForward(g: GraphWriter, x: Value, name: string, c: PromptedDecoder): Value {
  const [width, inner] = [c.hidden_size, c.intermediate_size];
  const wide = activation(g, linear(g, x, `${name}.fc1`, { from: width, to: inner }), c.hidden_act);
  return linear(g, wide, `${name}.fc2`, { from: inner, to: width });
}

function layer(
  g: GraphWriter,
  x: Value,
  state: DecoderState,
  { i, c }: { i: number; c: PromptedDecoder },
): Value {
  const name = at(`layers.${i}`);
  const [own, source] = [`${name}.self_attn`, `${name}.encoder_attn`];
  const read = normed(g, x, `${name}.input_layernorm`, c);
  const triple = { query: projected(g, read, `${own}.q`, c), ...pairOf(g, read, own, c) };
  const first = g.node('Add', [x, output(g, state.attendSelf(i, triple), own, c)]);
  const query = projected(g, normed(g, first, `${name}.post_attention_layernorm`, c), `${source}.q`, c);
  const second = g.node('Add', [first, output(g, state.attendSource(i, query), source, c)]);
  const fed = feedForward(g, normed(g, second, `${name}.final_layernorm`, c), `${name}.mlp`, c);
  return g.node('Add', [second, fed]);
}

function decode(g: GraphWriter, ids: Value, state: DecoderState, c: PromptedDecoder): Value {
  const tokens = embedding(g, ids, at('embed_tokens'), { rows: c.vocab_size, width: c.hidden_size });
  const placed = g.node('Add', [tokens, c.positions(g, state.positions)]);
  let x = normed(g, placed, at('embedding_layernorm'), c);
  for (let i = 0; i < c.num_hidden_layers; i++) x = layer(g, x, state, { i, c });
  return normed(g, x, at('norm'), c);
}

export function promptedDecoder(c: PromptedDecoder): SourceDecoder {
  const names = { own: 'proj_out.weight', tied: at('embed_tokens.weight') };
  const table = { rows: c.vocab_size, width: c.hidden_size, tie: c.tie_word_embeddings };
  return {
    ...{ width: c.hidden_size, vocabulary: c.vocab_size, decoderLayers: c.num_hidden_layers },
    ...{ heads: c.num_attention_heads, headWidth: widthOf(c) },
    projectSource: (g, i, states) => pairOf(g, states, at(`layers.${i}.encoder_attn`), c),
    decode: (g, ids, state) => decode(g, ids, state, c),
    scores: (g, x) =>
      g.node('Add', [tableScores(g, x, names, table), g.weight('proj_out.bias', [c.vocab_size])]),
  };
}
