import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';
import { type GatedSize, gatedFeedForward } from './swiglu.js';
import { linear } from './linear.js';

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
}

/** The experts that a layer without bias scores best, weighted by their softmax. @param tokens float32 [tokens, width] */
export function softmaxChoices(
  g: GraphWriter,
  tokens: Value,
  router: string,
  { width, experts, chosen, normalized = true }: RouterSize,
): Choices {
  const scores = linear(g, tokens, router, { from: width, to: experts, bias: false, isExact: true });
  const likely = g.node('Softmax', [scores], { axis: -1 });
  const [best, which] = g.nodes('TopK', [likely, g.ints([chosen])], {
    ...{ outputs: 2, attributes: { axis: -1 } },
  }) as [Value, Value];
  const total = () => g.node('ReduceSum', [best, g.ints([1])], { keepdims: 1 });
  return { experts, which, weights: normalized ? g.node('Div', [best, total()]) : best };
}

/**
 * Branches of a layer. Each costs time when a graph is opened, the more the larger the graph is: with one for each of 128 experts
 * a network of 48 layers took more than ten minutes.
 */
const MOST_BRANCHES = 16;

interface ExpertsSum {
  width: number;
  compute(fed: Value, expert: number): Value;
  /** What is multiplied with the weights: what experts give, or what they read. */
  weighs?: 'answers' | 'tokens';
}

/**
 * The weighted sum of what the chosen experts make of each token. Neighbours are computed together, and not at all where no token
 * of a run has chosen one of them.
 * @param tokens float32 [tokens, width], as what is given
 * @param compute what an expert makes of its tokens
 */
export function expertsSum(
  g: GraphWriter,
  tokens: Value,
  { experts, which, weights }: Choices,
  { width, compute, weighs = 'answers' }: ExpertsSum,
): Value {
  const neighbours = Math.ceil(experts / MOST_BRANCHES);
  const groups = Math.ceil(experts / neighbours);
  const isChosen = chosenGroups(g, which, { neighbours, groups });
  const added = (sum: Value, expert: number): Value => {
    // Places [2, count] of this expert among the choices: which token, and as which of its choices.
    const places = g.node('NonZero', [g.node('Equal', [which, g.ints([expert], [])])]);
    const choices = g.node('Transpose', [places], { perm: [1, 0] });
    const rows = g.node('Gather', [choices, g.ints([0])], { axis: 1 });
    const fed = g.node('GatherND', [tokens, rows]);
    const factors = () => g.node('Unsqueeze', [g.node('GatherND', [weights, choices]), g.ints([1])]);
    const weighed = (x: Value) => g.node('Mul', [x, factors()]);
    const answers = weighs === 'tokens' ? compute(weighed(fed), expert) : weighed(compute(fed, expert));
    return g.node('ScatterND', [sum, rows, answers], { reduction: 'add' });
  };
  let sum = g.node('Mul', [tokens, g.scalar(0)]);
  for (let group = 0; group < groups; group++) {
    const before = sum;
    const first = group * neighbours;
    const members = Array.from({ length: Math.min(neighbours, experts - first) }, (_, i) => first + i);
    sum = g.either(g.node('Gather', [isChosen, g.ints([group], [])]), ['tokens of all rows', width], {
      yes: () => members.reduce(added, before),
      no: () => g.node('Identity', [before]),
    });
  }
  return sum;
}

/** bool [groups]: those with an expert that any token has chosen. */
function chosenGroups(
  g: GraphWriter,
  which: Value,
  { neighbours, groups }: { neighbours: number; groups: number },
): Value {
  const numbers = Array.from({ length: groups }, (_, group) => group);
  const own = g.node('Div', [which, g.ints([neighbours], [])]);
  const choices = g.node('Equal', [
    g.node('Unsqueeze', [own, g.ints([-1])]),
    g.ints(numbers, [1, 1, groups]),
  ]);
  const counted = g.node('Cast', [choices], { to: ELEMENTS.int64 });
  const any = g.node('ReduceMax', [counted, g.ints([0, 1])], { keepdims: 0 });
  return g.node('Cast', [any], { to: ELEMENTS.bool });
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
      compute: (fed, expert) => gatedFeedForward(g, fed, (name) => at(`experts.${expert}.${name}`), size),
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
