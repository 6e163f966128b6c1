import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';
import { attention } from './attention.js';
import { byHead } from './split-heads.js';
import type { DecoderInputs } from './decoder-inputs.js';
import type { Pair, Triple } from './cross-decoder.js';

export interface Prefix {
  layer: number;
  /** Of what stands before the text: float32 [rows, heads, length, width] each. */
  source: Pair;
  /** int64 [rows, length], 0 where a row's source has ended. */
  mask: Value;
  heads: number;
  /** Of a head. */
  width: number;
  /** What scores are multiplied with. */
  scale: number;
}

/**
 * Attention of the fed tokens to a source that stands before the text, to the tokens of the cache and to each other, one softmax over
 * all of them: float32 [rows, tokens, heads · width].
 */
export function prefixedAttention(
  g: GraphWriter,
  inputs: DecoderInputs,
  { query, key, value }: Triple,
  { layer, source, mask, heads, width, scale }: Prefix,
): Value {
  const [keys, values] = [key, value].map((each) => byHead(g, each, heads, width)) as [Value, Value];
  inputs.present(layer, keys, values);
  const [formerKeys, formerValues] = inputs.past(layer) ?? [];
  const row = (...parts: (Value | undefined)[]) =>
    g.node(
      'Concat',
      parts.filter((part) => part !== undefined),
      { axis: 2 },
    );
  const all = {
    query,
    key: row(source.key, formerKeys, keys),
    value: row(source.value, formerValues, values),
  };
  const bias = g.once('mask with the source', () => wholeMask(g, inputs, mask));
  return attention(g, all, { heads, width: heads * width, scale, bias });
}

/** What is taken off scores of what is not there. */
const HIDDEN = 1e30;

/** Added to scores of the source and of all tokens: float32 [rows, 1, tokens, length + all tokens]. */
function wholeMask(g: GraphWriter, { mask, tokens }: DecoderInputs, source: Value): Value {
  const missing = g.node('Sub', [g.node('Cast', [source], { to: ELEMENTS.float32 }), g.scalar(1)]);
  const hidden = g.node('Unsqueeze', [g.node('Mul', [missing, g.scalar(HIDDEN)]), g.ints([1, 2])]);
  const shape = g.node('Concat', [g.ints([1, 1]), tokens, g.ints([1])], { axis: 0 });
  const own = g.node('Squeeze', [mask(), g.ints([1])]);
  return g.node('Concat', [g.node('Expand', [hidden, shape]), own], { axis: -1 });
}
