import * as z from 'zod';
import { epsilon, layers, size } from '../../config-fields.js';
import { attention } from '../../layers/attention.js';
import { splitRows } from '../../layers/fused-projections.js';
import { headWidth } from '../../layers/head-sizes.js';
import { embedding, linear } from '../../layers/linear.js';
import { layerNorm, skipLayerNorm } from '../../layers/norm.js';
import { rotary, rotate } from '../../layers/rope.js';
import { type RotaryConfig, rotaryConfig } from '../../layers/rope-frequencies.js';
import { textInputs, textPositions } from '../../layers/text-inputs.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';

/** Encoders of BERT's kind whose heads are rotated by their positions, and whose norms stand behind. */

export const rotaryEncoderConfig = {
  ...rotaryConfig,
  ...{ vocab_size: size, type_vocab_size: z.int().min(0).max(1024) },
  ...{ hidden_size: size, intermediate_size: size, num_hidden_layers: layers, num_attention_heads: size },
  head_dim: size.nullish(),
  ...{ hidden_act: z.string(), layer_norm_eps: epsilon },
};

type Config = Omit<z.output<z.ZodObject<typeof rotaryEncoderConfig>>, keyof typeof rotaryConfig> &
  RotaryConfig;

export interface RotaryEncoder {
  /** Of the tensors of the model without its head, which the checkpoint may leave out. */
  prefix: string;
  /** Name of the norm over embedded tokens, and of a layer before its number. */
  norm: string;
  layer: string;
  /** Of a layer: queries, keys and values as one, what follows attention, and the norms behind both parts. */
  names: { all: string; output: string; norms: readonly [attention: string, feedForward: string] };
  /** Of attention's layers. */
  bias: boolean;
  feedForward(g: GraphWriter, x: Value, at: (name: string) => string): Value;
}

interface Layer {
  at(name: string): string;
  ids: Value;
  padding: Value;
  c: Config;
  of: RotaryEncoder;
}

function attend(g: GraphWriter, x: Value, { at, ids, padding, c, of }: Layer): Value {
  const { hidden_size: from, num_attention_heads: heads } = c;
  const width = c.head_dim ?? headWidth(from, heads);
  const fused = linear(g, x, at(of.names.all), { from, to: 3 * heads * width, bias: of.bias });
  const { query, key, value } = splitRows(g, fused, { heads, keyHeads: heads, width });
  const positions = textPositions(g, ids);
  const rotated = (part: Value) => rotate(g, part, rotary(g, positions, c, width), { heads, width });
  const attended = attention(
    g,
    { query: rotated(query), key: rotated(key), value },
    { heads, width: heads * width, padding },
  );
  return linear(g, attended, at(of.names.output), { from: heads * width, to: from, bias: of.bias });
}

/** Tokens, and what text of a pair they are of; where all are of one kind, its vector is added to all. */
function embedded(
  g: GraphWriter,
  { ids, types }: Pick<Layer, 'ids'> & { types: Value },
  c: Config,
  at: Layer['at'],
): Value {
  const { hidden_size: width, type_vocab_size: rows } = c;
  const words = embedding(g, ids, at('embeddings.word_embeddings'), { rows: c.vocab_size, width });
  const kinds = at('embeddings.token_type_embeddings');
  if (rows === 0) return words;
  if (rows > 1) return g.node('Add', [words, embedding(g, types, kinds, { rows, width })]);
  return g.node('Add', [words, g.node('Gather', [g.weight(`${kinds}.weight`, [1, width]), g.ints([0], [])])]);
}

/** States of the last layer: float32 [rows, tokens, width]. */
export function rotaryEncoder(g: GraphWriter, c: Config, of: RotaryEncoder): Value {
  const { ids, padding, types } = textInputs(g, { types: c.type_vocab_size > 1 });
  const norm = { width: c.hidden_size, epsilon: c.layer_norm_eps };
  const named = (name: string) => `${of.prefix}${name}`;
  let x = layerNorm(g, embedded(g, { ids, types }, c, named), named(of.norm), norm);
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const at = (name: string) => named(`${of.layer}.${i}.${name}`);
    const [first, last] = of.names.norms;
    x = skipLayerNorm(g, [x, attend(g, x, { at, ids, padding, c, of })], at(first), norm);
    x = skipLayerNorm(g, [x, of.feedForward(g, x, at)], at(last), norm);
  }
  return x;
}
