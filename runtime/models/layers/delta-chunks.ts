import { type GraphWriter, MICROSOFT, type Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';
import type { DecoderInputs } from './decoder-inputs.js';
import { matMulTransposed } from './linear.js';

/** The gated delta rule over many tokens, chunk by chunk. */

export interface DeltaRule {
  layer: number;
  /** Of queries and keys, each for as many neighbouring heads of values. */
  keyHeads: number;
  heads: number;
  /** Of a head. */
  keyWidth: number;
  valueWidth: number;
  /** Each number of a key fades by itself. */
  byChannel?: boolean;
}

export interface Associations {
  /** float32 [rows, tokens, heads of keys · their width] */
  query: Value;
  key: Value;
  /** float32 [rows, tokens, heads · width of values] */
  value: Value;
  /** Logarithms of how much of the state each token leaves: float32 [rows, tokens, heads], or [rows, tokens, heads · width of keys]. */
  decay: Value;
  /** How far it corrects the state: float32 [rows, tokens, heads]. */
  share: Value;
}

/** By head: float32 [rows, tokens, heads, width] each. */
export type Parts = Record<keyof Associations, Value>;

/**
 * Tokens that are computed at once; as in Python. Where each number of a key fades by itself, every pair of tokens has a product for
 * each of them: of 64 tokens they would fill gigabytes.
 */
const chunkOf = ({ byChannel = false }: DeltaRule): number => (byChannel ? 16 : 64);

/** Logarithm of nothing. */
const NOTHING = -1e30;

interface Many {
  state: Value;
  parts: Parts;
  of: DeltaRule;
}

/** [rows, heads, width of keys + tokens, width of values]: chunk by chunk, the last one filled up by tokens that change nothing. */
export function manyTokens(g: GraphWriter, { tokens }: DecoderInputs, { state, parts, of }: Many): Value {
  const { heads, keyWidth, valueWidth } = of;
  const length = chunkOf(of);
  const rest = g.node('Mod', [g.node('Sub', [g.ints([0]), tokens]), g.ints([length])]);
  const pads = g.node('Concat', [g.ints([0, 0, 0, 0, 0]), rest, g.ints([0, 0])], { axis: 0 });
  const chunks = (x: Value, width: number) => {
    const filled = g.node('Pad', [x, pads]);
    const split = g.node('Reshape', [filled, g.ints([0, -1, length, heads, width])]);
    const turned = g.node('Transpose', [split], { perm: [1, 0, 3, 2, 4] });
    return { value: turned, shape: ['rows', heads, length, width] };
  };
  const [next, read] = g.scan(
    {
      states: [{ value: state, shape: ['rows', heads, keyWidth, valueWidth] }],
      slices: [
        ...[chunks(parts.query, keyWidth), chunks(parts.key, keyWidth), chunks(parts.value, valueWidth)],
        ...[chunks(parts.decay, of.byChannel ? keyWidth : 1), chunks(parts.share, 1)],
      ],
    },
    ([before], [query, key, value, decay, share]) => {
      const chunk = { query: query!, key: key!, value: value!, decay: decay!, share: share! };
      const made = oneChunk(g, before!, chunk, of);
      return {
        states: [made.next],
        given: [{ value: made.read, shape: ['rows', heads, length, valueWidth] }],
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
function oneChunk(
  g: GraphWriter,
  state: Value,
  { query, key, value, decay, share }: Parts,
  of: DeltaRule,
): { next: Value; read: Value } {
  const length = chunkOf(of);
  const times = (a: Value, b: Value) => g.node('Mul', [a, b]);
  const total = g.node('CumSum', [decay, g.ints([2], [])]);
  const pairs = of.byChannel ? pairsByChannel(g, total, length) : pairsByToken(g, total, length);
  const faded = g.node('Exp', [total]);
  const shared = times(key, share);
  const links = pairs(shared, key);
  const said = g.node('MatMul', [times(shared, faded), state]);
  const wanted = g.node('Sub', [times(value, share), said]);
  const news = g.node('MatMul', [inverse(g, links, length), wanted]);
  const scores = pairs(query, key);
  const kept = g.node('MatMul', [times(query, faded), state]);
  const read = g.node('Add', [kept, g.node('MatMul', [scores, news])]);
  const last = g.node('Slice', [total, g.ints([-1]), g.ints([2 ** 53]), g.ints([2])]);
  const lasting = times(key, g.node('Exp', [g.node('Sub', [last, total])]));
  const learned = g.node('FusedMatMul', [lasting, news], { transA: 1 }, MICROSOFT);
  const remains = g.node('Exp', [last]);
  const column = of.byChannel ? g.node('Transpose', [remains], { perm: [0, 1, 3, 2] }) : remains;
  return { next: g.node('Add', [times(state, column), learned]), read };
}

/** Products of tokens' vectors, each pair's by how much of the earlier one is left: float32 [rows, heads, tokens, tokens]. */
type Pairs = (a: Value, b: Value) => Value;

/** @param total logarithms of what is left of a chunk's beginning: float32 [rows, heads, tokens, 1] */
function pairsByToken(g: GraphWriter, total: Value, length: number): Pairs {
  const turned = g.node('Transpose', [total], { perm: [0, 1, 3, 2] });
  const between = g.node('Add', [g.node('Sub', [total, turned]), later(g, length)]);
  const left = g.node('Exp', [between]);
  return (a, b) => g.node('Mul', [matMulTransposed(g, a, b), left]);
}

/** @param total the same for each number of a key: float32 [rows, heads, tokens, width of keys] */
function pairsByChannel(g: GraphWriter, total: Value, length: number): Pairs {
  const column = (x: Value) => g.node('Unsqueeze', [x, g.ints([3])]);
  const line = (x: Value) => g.node('Unsqueeze', [x, g.ints([2])]);
  const hidden = g.node('Unsqueeze', [later(g, length), g.ints([-1])]);
  const between = g.node('Add', [g.node('Sub', [column(total), line(total)]), hidden]);
  const left = g.node('Exp', [between]);
  return (a, b) => {
    const products = g.node('Mul', [g.node('Mul', [column(a), line(b)]), left]);
    return g.node('ReduceSum', [products, g.ints([4])], { keepdims: 0 });
  };
}

/** Numbers of a chunk's tokens as a column and as a line, of parts of so many: int64 [tokens, 1] and [1, tokens]. */
function positions(g: GraphWriter, length: number, edge: number): [Value, Value] {
  const numbers = Array.from({ length }, (_, i) => Math.floor(i / edge));
  return [g.ints(numbers, [length, 1]), g.ints(numbers, [1, length])];
}

/** float32 [tokens, tokens], added to logarithms: what comes later is nothing. */
const later = (g: GraphWriter, length: number): Value =>
  g.once(`later tokens of a chunk ${length}`, () => {
    const [line, column] = positions(g, length, 1);
    return g.node('Where', [g.node('Less', [line, column]), g.scalar(NOTHING), g.scalar(0)]);
  });

/** float32 [tokens, tokens]: 1 in the lower left quarter of each square of two such edges along the diagonal. */
const quarters = (g: GraphWriter, length: number, edge: number): Value =>
  g.once(`quarters of a chunk ${length} ${edge}`, () => {
    const [line, column] = positions(g, length, edge);
    const isBelow = g.node('Equal', [g.node('Sub', [line, column]), g.ints([1], [])]);
    const isOdd = g.node('Equal', [g.node('Mod', [line, g.ints([2], [])]), g.ints([1], [])]);
    return g.node('Cast', [g.node('And', [isBelow, isOdd])], { to: ELEMENTS.float32 });
  });

/**
 * (1 + the part of A below its diagonal)⁻¹, by squares along the diagonal that grow twofold: [[a, 0], [b, c]]⁻¹ has −c⁻¹·b·a⁻¹ in its
 * corner. As exact as one row after the other, where powers of A would not be.
 */
function inverse(g: GraphWriter, links: Value, length: number): Value {
  const corner = (edge: number) => g.node('Mul', [links, quarters(g, length, edge)]);
  const one = g.once(`unit of a chunk ${length}`, () => {
    const [line, column] = positions(g, length, 1);
    return g.node('Cast', [g.node('Equal', [line, column])], { to: ELEMENTS.float32 });
  });
  let found = g.node('Sub', [one, corner(1)]);
  for (let edge = 2; edge < length; edge *= 2) {
    const moved = g.node('MatMul', [g.node('MatMul', [found, corner(edge)]), found]);
    found = g.node('Sub', [found, moved]);
  }
  return found;
}
