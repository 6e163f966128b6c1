import { float } from '../writer/attributes.js';
import { type GraphWriter, MICROSOFT, type Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';
import type { DecoderInputs } from './decoder-inputs.js';
import { headGroup } from './head-sizes.js';
import { matMulTransposed } from './linear.js';

/**
 * The gated delta rule: layers whose state learns what a value is for a key. Each token lets the state fade, S ← S·exp(decay), and
 * corrects what it says of the key, S ← S + key ⊗ share·(value − keyᵀ·S); queries read it, queryᵀ·S.
 * Source: torch_chunk_gated_delta_rule of transformers.
 */
export interface DeltaRule {
  layer: number;
  /** Of queries and keys, each for as many neighbouring heads of values. */
  keyHeads: number;
  heads: number;
  /** Of a head. */
  keyWidth: number;
  valueWidth: number;
}

export interface Associations {
  /** float32 [rows, tokens, heads of keys · their width] */
  query: Value;
  key: Value;
  /** float32 [rows, tokens, heads · width of values] */
  value: Value;
  /** Logarithms of how much of the state each token leaves, and how far it corrects it: float32 [rows, tokens, heads]. */
  decay: Value;
  share: Value;
}

/** Tokens that are computed at once; as in Python. */
const CHUNK = 64;

/** Added to squared lengths. */
const LEAST = 1e-6;

/** Logarithm of nothing. */
const NOTHING = -1e30;

/** float32 [rows, tokens, heads · width of values] */
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
    decay: byHead(given.decay, heads, 1),
    share: byHead(given.share, heads, 1),
  };
  const state = inputs.state('delta', layer, dims);
  const isOne = g.once('a single token', () =>
    g.node('Squeeze', [g.node('Equal', [inputs.tokens, g.ints([1])])]),
  );
  // The next state above what tokens read.
  const both = g.either(isOne, ['rows', heads, 'state and tokens', valueWidth], {
    yes: () => oneToken(g, state, parts),
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

/** By head: float32 [rows, tokens, heads, width] each. */
type Parts = Record<keyof Associations, Value>;

/** [rows, heads, width of keys + 1, width of values]: the recurrence itself. */
function oneToken(g: GraphWriter, state: Value, parts: Parts): Value {
  const line = (x: Value) => g.node('Transpose', [x], { perm: [0, 2, 1, 3] });
  const [query, key, value] = [line(parts.query), line(parts.key), line(parts.value)];
  const faded = g.node('Mul', [state, g.node('Exp', [line(parts.decay)])]);
  const known = g.node('MatMul', [key, faded]);
  const news = g.node('Mul', [g.node('Sub', [value, known]), line(parts.share)]);
  const column = g.node('Transpose', [key], { perm: [0, 1, 3, 2] });
  const next = g.node('Add', [faded, g.node('Mul', [column, news])]);
  return g.node('Concat', [next, g.node('MatMul', [query, next])], { axis: 2 });
}

interface Many {
  state: Value;
  parts: Parts;
  of: DeltaRule;
}

/** [rows, heads, width of keys + tokens, width of values]: chunk by chunk, the last one filled up by tokens that change nothing. */
function manyTokens(g: GraphWriter, { tokens }: DecoderInputs, { state, parts, of }: Many): Value {
  const { heads, keyWidth, valueWidth } = of;
  const rest = g.node('Mod', [g.node('Sub', [g.ints([0]), tokens]), g.ints([CHUNK])]);
  const pads = g.node('Concat', [g.ints([0, 0, 0, 0, 0]), rest, g.ints([0, 0])], { axis: 0 });
  const chunks = (x: Value, width: number) => {
    const filled = g.node('Pad', [x, pads]);
    const split = g.node('Reshape', [filled, g.ints([0, -1, CHUNK, heads, width])]);
    const turned = g.node('Transpose', [split], { perm: [1, 0, 3, 2, 4] });
    return { value: turned, shape: ['rows', heads, CHUNK, width] };
  };
  const [next, read] = g.scan(
    {
      states: [{ value: state, shape: ['rows', heads, keyWidth, valueWidth] }],
      slices: [
        ...[chunks(parts.query, keyWidth), chunks(parts.key, keyWidth), chunks(parts.value, valueWidth)],
        ...[chunks(parts.decay, 1), chunks(parts.share, 1)],
      ],
    },
    ([before], [query, key, value, decay, share]) => {
      const chunk = { query: query!, key: key!, value: value!, decay: decay!, share: share! };
      const made = oneChunk(g, before!, chunk);
      return {
        states: [made.next],
        given: [{ value: made.read, shape: ['rows', heads, CHUNK, valueWidth] }],
      };
    },
  );
  const byRow = g.node('Transpose', [read!], { perm: [1, 2, 0, 3, 4] });
  const all = g.node('Reshape', [byRow, g.ints([0, 0, -1, valueWidth])]);
  const own = g.node('Slice', [all, g.ints([0]), tokens, g.ints([2])]);
  return g.node('Concat', [next!, own], { axis: 2 });
}

/**
 * A chunk of [rows, heads, tokens, width]. What its tokens correct hangs on each other: (1 + A)·news = share·(values − what the state
 * says), A below the diagonal.
 */
function oneChunk(g: GraphWriter, state: Value, chunk: Parts): { next: Value; read: Value } {
  const { query, key, value, decay, share } = chunk;
  const times = (a: Value, b: Value) => g.node('Mul', [a, b]);
  const total = g.node('CumSum', [decay, g.ints([2], [])]);
  const turned = g.node('Transpose', [total], { perm: [0, 1, 3, 2] });
  const between = g.node('Add', [g.node('Sub', [total, turned]), later(g)]);
  const left = g.node('Exp', [between]);
  const faded = g.node('Exp', [total]);
  const shared = times(key, share);
  const links = times(matMulTransposed(g, shared, key), left);
  const said = g.node('MatMul', [times(shared, faded), state]);
  const wanted = g.node('Sub', [times(value, share), said]);
  const news = g.node('MatMul', [inverse(g, links), wanted]);
  const scores = times(matMulTransposed(g, query, key), left);
  const kept = g.node('MatMul', [times(query, faded), state]);
  const read = g.node('Add', [kept, g.node('MatMul', [scores, news])]);
  const last = g.node('Slice', [total, g.ints([-1]), g.ints([2 ** 53]), g.ints([2])]);
  const lasting = times(key, g.node('Exp', [g.node('Sub', [last, total])]));
  const learned = g.node('FusedMatMul', [lasting, news], { transA: 1 }, MICROSOFT);
  return { next: g.node('Add', [times(state, g.node('Exp', [last])), learned]), read };
}

/** Numbers of a chunk's tokens as a column and as a line, of parts of so many: int64 [tokens, 1] and [1, tokens]. */
function places(g: GraphWriter, edge: number): [Value, Value] {
  const numbers = Array.from({ length: CHUNK }, (_, i) => Math.floor(i / edge));
  return [g.ints(numbers, [CHUNK, 1]), g.ints(numbers, [1, CHUNK])];
}

/** float32 [tokens, tokens], added to logarithms: what comes later is nothing. */
const later = (g: GraphWriter): Value =>
  g.once('later tokens of a chunk', () => {
    const [line, column] = places(g, 1);
    return g.node('Where', [g.node('Less', [line, column]), g.scalar(NOTHING), g.scalar(0)]);
  });

/** float32 [tokens, tokens]: 1 in the lower left quarter of each square of two such edges along the diagonal. */
const quarters = (g: GraphWriter, edge: number): Value =>
  g.once(`quarters of a chunk ${edge}`, () => {
    const [line, column] = places(g, edge);
    const isBelow = g.node('Equal', [g.node('Sub', [line, column]), g.ints([1], [])]);
    const isOdd = g.node('Equal', [g.node('Mod', [line, g.ints([2], [])]), g.ints([1], [])]);
    return g.node('Cast', [g.node('And', [isBelow, isOdd])], { to: ELEMENTS.float32 });
  });

/**
 * (1 + the part of A below its diagonal)⁻¹, by squares along the diagonal that grow twofold: [[a, 0], [b, c]]⁻¹ has −c⁻¹·b·a⁻¹ in its
 * corner. As exact as one row after the other, where powers of A would not be.
 */
function inverse(g: GraphWriter, links: Value): Value {
  const corner = (edge: number) => g.node('Mul', [links, quarters(g, edge)]);
  const one = g.once('unit of a chunk', () => {
    const [line, column] = places(g, 1);
    return g.node('Cast', [g.node('Equal', [line, column])], { to: ELEMENTS.float32 });
  });
  let found = g.node('Sub', [one, corner(1)]);
  for (let edge = 2; edge < CHUNK; edge *= 2) {
    const moved = g.node('MatMul', [g.node('MatMul', [found, corner(edge)]), found]);
    found = g.node('Sub', [found, moved]);
  }
  return found;
}
