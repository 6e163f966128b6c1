import { float } from '../writer/attributes.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import type { DecoderInputs } from './decoder-inputs.js';
import { type Associations, type DeltaRule, manyTokens, type Parts } from './delta-chunks.js';
import { headGroup } from './head-sizes.js';

/** Added to squared lengths. */
const LEAST = 1e-6;

/**
 * The gated delta rule: layers whose state learns what a value is for a key. Each token lets the state fade, S ← S·exp(decay), and
 * corrects what it says of the key, S ← S + key ⊗ share·(value − keyᵀ·S); queries read it, queryᵀ·S.
 * Source: torch_chunk_gated_delta_rule of transformers.
 * @returns float32 [rows, tokens, heads · width of values]
 */
export function deltaRule(g: GraphWriter, inputs: DecoderInputs, given: Associations, of: DeltaRule): Value {
  const { heads, keyHeads, keyWidth, valueWidth, layer } = of;
  const dims = [heads, keyWidth, valueWidth];
  const byHead = (x: Value, count: number, width: number) =>
    g.node('Reshape', [x, g.ints([0, 0, count, width])]);
  // Unit length, and of queries as much as keeps scores small.
  const unit = (x: Value, factor: number) => {
    const weights = g.floats(new Float32Array(keyWidth).fill(factor * keyWidth ** -0.5));
    const split = byHead(x, keyHeads, keyWidth);
    const attributes = { axis: -1, epsilon: float(LEAST / keyWidth) };
    const normed = g.node('SimplifiedLayerNormalization', [split, weights], attributes);
    return repeated(g, normed, of);
  };
  const parts = {
    query: unit(given.query, keyWidth ** -0.5),
    key: unit(given.key, 1),
    value: byHead(given.value, heads, valueWidth),
    decay: byHead(given.decay, heads, of.byChannel ? keyWidth : 1),
    share: byHead(given.share, heads, 1),
  };
  const state = inputs.state('delta', layer, dims);
  const isOne = g.once('a single token', () =>
    g.node('Squeeze', [g.node('Equal', [inputs.tokens, g.ints([1])])]),
  );
  // The next state above what tokens read.
  const both = g.either(isOne, ['rows', heads, 'state and tokens', valueWidth], {
    yes: () => oneToken(g, state, parts, of),
    no: () => manyTokens(g, inputs, { state, parts, of }),
  });
  const from = (start: number, end: number) =>
    g.node('Slice', [both, g.ints([start]), g.ints([end]), g.ints([2])]);
  inputs.nextState('delta', layer, from(0, keyWidth), dims);
  const read = g.node('Transpose', [from(keyWidth, 2 ** 53)], { perm: [0, 2, 1, 3] });
  return g.node('Reshape', [read, g.ints([0, 0, heads * valueWidth])]);
}

/** A head of keys stands before each head of values: float32 [rows, tokens, heads, width]. */
function repeated(g: GraphWriter, x: Value, { heads, keyHeads, keyWidth }: DeltaRule): Value {
  const each = headGroup(heads, keyHeads);
  if (each === 1) return x;
  const column = g.node('Unsqueeze', [x, g.ints([3])]);
  const all = g.node('Expand', [column, g.ints([1, 1, 1, each, 1])]);
  return g.node('Reshape', [all, g.ints([0, 0, heads, keyWidth])]);
}

/** [rows, heads, width of keys + 1, width of values]: the recurrence itself. */
function oneToken(g: GraphWriter, state: Value, parts: Parts, { byChannel }: DeltaRule): Value {
  const line = (x: Value) => g.node('Transpose', [x], { perm: [0, 2, 1, 3] });
  const [query, key, value] = [line(parts.query), line(parts.key), line(parts.value)];
  const lasting = g.node('Exp', [line(parts.decay)]);
  const faded = g.node('Mul', [
    state,
    byChannel ? g.node('Transpose', [lasting], { perm: [0, 1, 3, 2] }) : lasting,
  ]);
  const known = g.node('MatMul', [key, faded]);
  const news = g.node('Mul', [g.node('Sub', [value, known]), line(parts.share)]);
  const column = g.node('Transpose', [key], { perm: [0, 1, 3, 2] });
  const next = g.node('Add', [faded, g.node('Mul', [column, news])]);
  return g.node('Concat', [next, g.node('MatMul', [query, next])], { axis: 2 });
}
