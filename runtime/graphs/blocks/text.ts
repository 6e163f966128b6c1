import { ELEMENTS } from '../tensors.js';
import type { GraphWriter, Value } from '../graph-writer.js';
import { linear } from './linear.js';

/** What encoders of text read, each [rows, tokens]. */
export interface TextInputs {
  /** int64 */
  ids: Value;
  /** int64: which text of a pair. */
  types: Value;
  /** int64 [1, tokens]: places from 0 on. */
  positions: Value;
  /** int32: 0 for padding. */
  padding: Value;
}

/** Declares the inputs that the runtime's encoders feed. */
export function textInputs(g: GraphWriter, { types = false } = {}): TextInputs {
  const axes = ['rows', 'tokens'];
  const ids = g.input('input_ids', 'int64', axes);
  const mask = g.input('attention_mask', 'int64', axes);
  return {
    ids,
    types: types ? g.input('token_type_ids', 'int64', axes) : '',
    positions: placesOf(g, ids),
    padding: g.node('Cast', [mask], { to: ELEMENTS.int32 }),
  };
}

/** int64 [1, tokens]: 0, 1, 2, … for ids [rows, tokens]. */
function placesOf(g: GraphWriter, ids: Value): Value {
  const tokens = g.node('Shape', [ids], { start: 1, end: 2 });
  const count = g.node('Squeeze', [tokens]);
  const range = g.node('Range', [g.ints([0], []), count, g.ints([1], [])]);
  return g.node('Unsqueeze', [range, g.ints([0])]);
}

export interface ClassifierSize {
  width: number;
  labels: number;
  /** True where each token has scores of its own. */
  tokens?: boolean;
}

/** `logits`: float32 [rows, labels], or [rows, tokens, labels]. */
export function classifierOutput(
  g: GraphWriter,
  x: Value,
  name: string,
  { width, labels, tokens = false }: ClassifierSize,
): void {
  const logits = linear(g, x, name, { from: width, to: labels });
  g.output('logits', logits, 'float32', tokens ? ['rows', 'tokens', labels] : ['rows', labels]);
}

/** `start_logits` and `end_logits`, float32 [rows, tokens] each. */
export function spanOutputs(g: GraphWriter, x: Value, name: string, width: number): void {
  const both = linear(g, x, name, { from: width, to: 2 });
  ['start_logits', 'end_logits'].forEach((output, i) => {
    const one = g.node('Gather', [both, g.ints([i], [])], { axis: 2 });
    g.output(output, one, 'float32', ['rows', 'tokens']);
  });
}
