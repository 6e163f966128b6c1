import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { byHead } from './split-heads.js';
import type { DecoderInputs } from './decoder-inputs.js';
import { headGroup } from './head-sizes.js';
import { matMulTransposed } from './linear.js';

export interface CachedAttention {
  layer: number;
  heads: number;
  /** Heads of keys and values, each for heads / keyHeads neighbouring heads of queries. */
  keyHeads: number;
  /** Of a head. */
  width: number;
  /** What scores are multiplied with. */
  scale: number;
  /** float32 [rows, 1, 1, tokens, all tokens], added to the scores. */
  mask: Value;
  /** Scores become cap · tanh(score / cap) first. */
  cap?: number | undefined;
  /** float32 [heads]: a score of each head that takes part in the softmax, for no value. */
  sinks?: Value | undefined;
}

/** float32 [rows, tokens, heads · width] each, of the fed tokens. */
export interface Projected {
  query: Value;
  key: Value;
  value: Value;
}

/**
 * Attention of the fed tokens to those of the cache and to each other: float32 [rows, tokens, heads · width].
 *
 * Queries of one key head stand below each other, so keys and values are never repeated; and scores of the cache and of
 * the fed tokens are computed apart, so the cache, the largest thing here, is read where it lies and never copied.
 */
export function cachedAttention(
  g: GraphWriter,
  inputs: DecoderInputs,
  { query, key, value }: Projected,
  { layer, heads, keyHeads, width, scale, mask, cap, sinks }: CachedAttention,
): Value {
  const group = headGroup(heads, keyHeads);
  const size = { heads: keyHeads, width };
  const past = inputs.past(layer, size);
  const keys = byHead(g, key, keyHeads, width);
  const values = byHead(g, value, keyHeads, width);
  inputs.present(layer, keys, values, size);
  const split = g.node('Reshape', [query, g.ints([0, 0, keyHeads, group, width])]);
  const queries = g.node('Reshape', [
    ...[g.node('Transpose', [split], { perm: [0, 2, 3, 1, 4] }), g.ints([0, 0, -1, width])],
  ]);
  const fed = matMulTransposed(g, queries, keys, scale);
  const scores = past
    ? g.node('Concat', [matMulTransposed(g, queries, past[0], scale), fed], { axis: -1 })
    : fed;
  const shape = g.node('Concat', [g.ints([0, 0, group]), inputs.tokens, g.ints([-1])], { axis: 0 });
  const capped = cap === undefined ? scores : softCap(g, scores, cap);
  const masked = g.node('Add', [g.node('Reshape', [capped, shape]), mask]);
  const shares = sinks
    ? sharesBesideSinks(g, masked, g.node('Reshape', [sinks, g.ints([1, keyHeads, group, 1, 1])]))
    : g.node('Softmax', [masked], { axis: -1 });
  const weights = g.node('Reshape', [shares, g.node('Shape', [scores])]);
  const attended = past ? weighted(g, weights, past[1], values) : g.node('MatMul', [weights, values]);
  const parted = g.node('Reshape', [
    attended,
    g.node('Concat', [g.ints([0, 0, group]), inputs.tokens, g.ints([width])], { axis: 0 }),
  ]);
  const together = g.node('Transpose', [parted], { perm: [0, 3, 1, 2, 4] });
  return g.node('Reshape', [together, g.ints([0, 0, heads * width])]);
}

/** Softmax of scores [rows, key heads, group, tokens, all tokens] and a sink of each head, without the sinks' shares. */
function sharesBesideSinks(g: GraphWriter, scores: Value, sinks: Value): Value {
  const [axis, shape] = [g.ints([4]), g.node('Shape', [scores], { start: 0, end: 4 })];
  const column = g.node('Expand', [sinks, g.node('Concat', [shape, g.ints([1])], { axis: 0 })]);
  const all = g.node('Softmax', [g.node('Concat', [scores, column], { axis: -1 })], { axis: -1 });
  return g.node('Slice', [all, g.ints([0]), g.ints([-1]), axis]);
}

/** weights · (past values, then those of the fed tokens) */
function weighted(g: GraphWriter, weights: Value, past: Value, fed: Value): Value {
  const length = g.node('Shape', [past], { start: 2, end: 3 });
  const [axis, end] = [g.ints([3]), g.ints([2 ** 53])];
  const before = g.node('Slice', [weights, g.ints([0]), length, axis]);
  const after = g.node('Slice', [weights, length, end, axis]);
  return g.node('Add', [g.node('MatMul', [before, past]), g.node('MatMul', [after, fed])]);
}

/** cap · tanh(x / cap) */
export function softCap(g: GraphWriter, x: Value, cap: number): Value {
  const bounded = g.node('Tanh', [g.node('Div', [x, g.scalar(cap)])]);
  return g.node('Mul', [bounded, g.scalar(cap)]);
}
