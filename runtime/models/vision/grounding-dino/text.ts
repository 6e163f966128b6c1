import * as z from 'zod';
import { attention, type AttentionOptions } from '../../layers/attention.js';
import { linear } from '../../layers/linear.js';
import { positionsOf, textInputs } from '../../layers/text-inputs.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { ELEMENTS } from '../../writer/tensors.js';
import { BERT_NAMES, bertLayer } from '../../bases/encoder/bert-layer.js';
import { bertConfig, bertSizes } from '../../bases/encoder/bert-config.js';
import { bertEmbeddings } from '../../bases/encoder/bert-embeddings.js';

export const textConfig = z.object({
  ...bertConfig,
  model_type: z.literal('bert', 'only bert is known as a reader of texts').default('bert'),
  vocab_size: bertConfig.vocab_size.default(30_522),
  hidden_size: bertConfig.hidden_size.default(768),
  intermediate_size: bertConfig.intermediate_size.default(3072),
  num_hidden_layers: bertConfig.num_hidden_layers.default(12),
  num_attention_heads: bertConfig.num_attention_heads.default(12),
  position_embedding_type: z.literal('absolute').default('absolute'),
});
type TextConfig = z.output<typeof textConfig>;

/** BERT's tokens [CLS], [SEP], full stop and question mark, whatever the vocabulary is. */
const ENDS = [101, 102, 1012, 1029];
/** Least float32, with which Python masks. */
const LEAST = -3.4028234663852886e38;

export interface Text {
  /** float32 [rows, tokens, width] */
  x: Value;
  /** float32 [rows, 1, tokens, tokens], added to scores: tokens see those of their own sentence only. */
  bias: Value;
  /** int64 [rows, tokens], counted in each sentence. */
  positions: Value;
  /** int32 [rows, tokens], 0 for padding. */
  padding: Value;
}

/** Which tokens stand before a full stop, a question mark or the like, and how far behind the one before that. */
function sentences(g: GraphWriter, ids: Value): Pick<Text, 'bias' | 'positions'> {
  const positions = positionsOf(g, ids);
  const float = (x: Value) => g.node('Cast', [x], { to: ELEMENTS.float32 });
  const ends = ENDS.map((id) => g.node('Equal', [ids, g.ints([id], [])]));
  const isEnd = ends.reduce((one, other) => g.node('Or', [one, other]));
  const last = g.node('Sub', [g.node('Shape', [ids], { start: 1, end: 2 }), g.ints([1])]);
  const within = g.node('And', [
    g.node('Greater', [positions, g.ints([0])]),
    g.node('Less', [positions, last]),
  ]);
  const inner = g.node('Unsqueeze', [float(g.node('And', [isEnd, within])), g.ints([1])]);
  const [across, down] = [0, 1].map((axis) => g.node('Unsqueeze', [positions, g.ints([axis])])) as [
    Value,
    Value,
  ];
  // [rows, tokens, tokens]: the ends before a token.
  const before = g.node('Mul', [inner, float(g.node('Less', [across, down]))]);
  const sentence = g.node('ReduceSum', [before, g.ints([2])], { keepdims: 0 });
  const end = g.node('ReduceMax', [g.node('Mul', [before, float(across)]), g.ints([2])], { keepdims: 0 });
  const all = g.node('ReduceSum', [inner, g.ints([2])], { keepdims: 0 });
  const isEnded = g.node('And', [
    g.node('Less', [sentence, all]),
    g.node('Greater', [positions, g.ints([0])]),
  ]);
  const counted = g.node('Sub', [g.node('Sub', [float(positions), end]), g.scalar(1)]);
  const numbered = g.node('Where', [isEnded, sentence, g.scalar(-1)]);
  const [columns, rows] = [1, 2].map((axis) => g.node('Unsqueeze', [numbered, g.ints([axis])])) as [
    Value,
    Value,
  ];
  const together = g.node('And', [
    g.node('Equal', [columns, rows]),
    g.node('GreaterOrEqual', [columns, g.scalar(0)]),
  ]);
  const seen = g.node('Or', [together, g.node('Equal', [across, down])]);
  const bias = g.node('Where', [seen, g.scalar(0), g.scalar(LEAST)]);
  return {
    bias: g.node('Unsqueeze', [bias, g.ints([1])]),
    positions: g.node('Cast', [g.node('Where', [isEnded, counted, g.scalar(0)])], { to: ELEMENTS.int64 }),
  };
}

/** BERT over sentences that don't see each other, projected to the width of the image. Declares the inputs. */
export function textStates(g: GraphWriter, c: TextConfig, width: number): Text {
  const { ids, types, padding } = textInputs(g, { types: true });
  const { bias, positions } = sentences(g, ids);
  const base = 'model.text_backbone.';
  let x = bertEmbeddings(g, { ids, types, at: positions }, (name) => `${base}embeddings.${name}`, {
    ...{ ...bertSizes(c), kinds: c.type_vocab_size, positions: c.max_position_embeddings },
  });
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const at = (part: string) => `${base}encoder.layer.${i}.${part}`;
    x = bertLayer(g, x, { ...bertSizes(c), names: BERT_NAMES, at, bias });
  }
  const projected = linear(g, x, 'model.text_projection', { from: c.hidden_size, to: width });
  return { x: projected, bias, positions, padding };
}

/** Attention whose layers are `query`, `key`, `value` and `out_proj`. */
export function namedAttention(
  g: GraphWriter,
  given: { query: Value; key: Value; value: Value },
  name: string,
  options: AttentionOptions,
): Value {
  const size = { from: options.width, to: options.width };
  const project = (of: 'query' | 'key' | 'value') => linear(g, given[of], `${name}.${of}`, size);
  const projected = { query: project('query'), key: project('key'), value: project('value') };
  return linear(g, attention(g, projected, options), `${name}.out_proj`, size);
}
