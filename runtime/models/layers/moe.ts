import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { linear, multiplied } from './linear.js';
import { gateAndUp, gated, gatedProduct, type GatedSize, projectedDown } from './swiglu.js';

/** Mixtures: each token goes through the few experts that its router has chosen. */
export interface Choices {
  /** How many experts there are. */
  experts: number;
  /** int64 [tokens, chosen]: experts of a token. */
  which: Value;
  /** float32 [tokens, chosen]: what their answers are multiplied with. */
  weights: Value;
}

export interface RouterSize {
  width: number;
  experts: number;
  /** How many of them a token goes through. */
  chosen: number;
  /** False where their shares of the softmax stay as they are, and sum up to less than one. */
  normalized?: boolean;
  /** True where the layer has a bias. */
  bias?: boolean;
}

/** The experts that a layer scores best, weighted by their softmax. @param tokens float32 [tokens, width] */
export function softmaxChoices(
  g: GraphWriter,
  tokens: Value,
  router: string,
  { width, experts, chosen, normalized = true, bias = false }: RouterSize,
): Choices {
  const scores = linear(g, tokens, router, { from: width, to: experts, bias, isExact: true });
  const likely = g.node('Softmax', [scores], { axis: -1 });
  const [best, which] = g.nodes('TopK', [likely, g.ints([chosen])], {
    ...{ outputs: 2, attributes: { axis: -1 } },
  }) as [Value, Value];
  const total = () => g.node('ReduceSum', [best, g.ints([1])], { keepdims: 1 });
  return { experts, which, weights: normalized ? g.node('Div', [best, total()]) : best };
}

/**
 * Takes the rows of each expert through layers of its own.
 * @param rows float32 [choices, columns], ordered by expert
 * @param layers what the rows [count, columns] of an expert become; an expert that no token has chosen has none
 */
export type Through = (rows: Value, layers: (own: Value, expert: number) => Value[]) => Value[];

interface ExpertsSum {
  width: number;
  /** What experts make of their rows: float32 [choices, width] -> the same. */
  compute(rows: Value, through: Through): Value;
  /** What is multiplied with the weights: what experts give, or what they read. */
  weighs?: 'answers' | 'tokens';
}

/**
 * Branches of a layer, each of which is left out where no token has chosen one of its experts. Opening a graph takes time by the
 * square of the nodes of a branch, and time and memory by the branches of all layers times the tensors of all.
 */
const MOST_BRANCHES = 4;

/**
 * The weighted sum of what the chosen experts make of each token. Choices are ordered by expert, so that an expert has few nodes of
 * its own: a network has thousands of experts, and each node costs time when the graph is opened and at each run.
 * @param tokens float32 [tokens, width], as what is given
 */
export function expertsSum(
  g: GraphWriter,
  tokens: Value,
  { experts, which, weights }: Choices,
  { width, compute, weighs = 'answers' }: ExpertsSum,
): Value {
  const flat = g.node('Reshape', [which, g.ints([-1])]);
  const count = g.node('Shape', [flat]);
  const order = g.nodes('TopK', [flat, count], {
    ...{ outputs: 2, attributes: { axis: 0, largest: 0, sorted: 1 } },
  })[1]!;
  const chosen = g.node('Shape', [which], { start: 1 });
  const factors = g.node('Reshape', [weights, g.ints([-1, 1])]);
  const fed = g.node('Gather', [tokens, g.node('Div', [order, chosen])]);
  const weighed = weighs === 'tokens' ? g.node('Mul', [fed, g.node('Gather', [factors, order])]) : fed;
  const ordered = { rows: weighed, counts: countsOf(g, flat, experts), experts, width };
  const answers = inBranches(g, ordered, compute);
  const own = g.node('Gather', [answers, positionsOf(g, order, count)]);
  const factored = weighs === 'answers' ? g.node('Mul', [own, factors]) : own;
  const shape = g.node('Concat', [g.node('Shape', [which]), g.ints([width])], { axis: 0 });
  return g.node('ReduceSum', [g.node('Reshape', [factored, shape]), g.ints([1])], { keepdims: 0 });
}

interface Ordered {
  rows: Value;
  /** int64 [experts]: rows of each. */
  counts: Value;
  experts: number;
  width: number;
}

function inBranches(
  g: GraphWriter,
  { rows, counts, experts, width }: Ordered,
  compute: ExpertsSum['compute'],
): Value {
  const most = Math.ceil(experts / MOST_BRANCHES);
  const sizes = Array.from({ length: Math.ceil(experts / most) }, (_, i) =>
    Math.min(most, experts - i * most),
  );
  const ofBranches = splitInto(g, counts, g.ints(sizes), sizes.length);
  const totals = ofBranches.map((own) => g.node('ReduceSum', [own, g.ints([0])], { keepdims: 1 }));
  const parts = splitInto(g, rows, behindEachOther(g, totals), sizes.length);
  const answers = parts.map((part, i) => {
    const isChosen = g.node('Squeeze', [g.node('Greater', [totals[i]!, g.ints([0])])]);
    const through = throughOwn(g, { counts: ofBranches[i]!, first: i * most, count: sizes[i]! });
    return g.either(isChosen, [`rows of ${part}`, width], {
      yes: () => compute(part, through),
      no: () => g.node('Identity', [part]),
    });
  });
  return behindEachOther(g, answers);
}

/** @param counts int64 [count]: rows of each expert of a branch, from the `first` one on */
const throughOwn =
  (g: GraphWriter, { counts, first, count }: { counts: Value; first: number; count: number }): Through =>
  (rows, layers) => {
    const made = splitInto(g, rows, counts, count).map((own, i) => layers(own, first + i));
    return made[0]!.map((_, i) => {
      const parts = made.map((values) => values[i]!);
      return behindEachOther(g, parts);
    });
  };

const behindEachOther = (g: GraphWriter, parts: Value[]): Value =>
  parts.length === 1 ? parts[0]! : g.node('Concat', parts, { axis: 0 });

/** @param lengths int64 [count] */
const splitInto = (g: GraphWriter, x: Value, lengths: Value, count: number): Value[] =>
  count === 1 ? [x] : g.nodes('Split', [x, lengths], { outputs: count, attributes: { axis: 0 } });

/** int64 [experts]: how often each one is among the choices. */
function countsOf(g: GraphWriter, flat: Value, experts: number): Value {
  const none = g.ints(Array.from({ length: experts }, () => 0));
  const ones = g.node('Expand', [g.ints([1]), g.node('Shape', [flat])]);
  return g.node('ScatterElements', [none, flat, ones], { axis: 0, reduction: 'add' });
}

/** Where each one of an order is found in it. @param order int64 [count], all numbers below the count */
function positionsOf(g: GraphWriter, order: Value, count: Value): Value {
  const numbers = g.node('Range', [g.ints([0], []), g.node('Squeeze', [count]), g.ints([1], [])]);
  return g.node('ScatterElements', [order, order, numbers], { axis: 0 });
}

/** float32 [rows, tokens, width] by way of [all tokens, width]. */
export function overTokens(g: GraphWriter, x: Value, width: number, write: (tokens: Value) => Value): Value {
  const shape = g.node('Shape', [x]);
  return g.node('Reshape', [write(g.node('Reshape', [x, g.ints([-1, width])])), shape]);
}

interface Mixture extends GatedSize {
  choose(tokens: Value): Choices;
}

/** A mixture of gated layers. @param at name of a tensor: `experts.N.…` are the layers */
export const chosenFeedForward = (
  g: GraphWriter,
  x: Value,
  at: (name: string) => string,
  { choose, ...size }: Mixture,
): Value =>
  overTokens(g, x, size.width, (tokens) =>
    expertsSum(g, tokens, choose(tokens), {
      width: size.width,
      compute(rows, through) {
        const named = (expert: number) => (name: string) => at(`experts.${expert}.${name}`);
        const wide = through(rows, (own, expert) => gateAndUp(g, own, named(expert), size));
        const product = gatedProduct(g, wide, size);
        return through(product, (own, expert) => [projectedDown(g, own, named(expert), size)])[0]!;
      },
    }),
  );

interface Stacked {
  choose(tokens: Value): Choices;
  weighs?: ExpertsSum['weighs'];
  inner: number;
  act: string;
  width: number;
  /** Matrices are stored as [columns, rows]. */
  transposed?: boolean;
  /** Names of the stacks. */
  both: string;
  down: string;
}

/** A mixture of gated layers that are stored as two stacks, gate and up in one. */
export const stackedFeedForward = (
  g: GraphWriter,
  x: Value,
  { choose, weighs, inner, act, width, transposed = false, both, down }: Stacked,
): Value =>
  overTokens(g, x, width, (tokens) =>
    expertsSum(g, tokens, choose(tokens), {
      width,
      ...(weighs && { weighs }),
      compute(rows, through) {
        const layer =
          (name: string, size: { rows: number; columns: number }) => (own: Value, expert: number) => [
            multiplied(g, own, `${name}[${expert}]`, { ...size, transposed }),
          ];
        const wide = through(rows, layer(both, { rows: 2 * inner, columns: width }))[0]!;
        return through(gated(g, wide, { inner, act }), layer(down, { rows: width, columns: inner }))[0]!;
      },
    }),
  );

/** The same, chosen by the softmax of a layer. @param at `gate.weight` is the router */
export const expertsFeedForward = (
  g: GraphWriter,
  x: Value,
  at: (name: string) => string,
  size: RouterSize & GatedSize,
): Value =>
  chosenFeedForward(g, x, at, { ...size, choose: (tokens) => softmaxChoices(g, tokens, at('gate'), size) });
