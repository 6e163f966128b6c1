import type { GraphWriter, Value } from '../graph-writer.js';
import { type GatedSize, gatedFeedForward } from './gated-feed-forward.js';
import { linear } from './linear.js';

export interface ExpertsSize extends GatedSize {
  experts: number;
  /** How many of them a token goes through. */
  chosen: number;
  /** False where their shares of the softmax stay as they are, and sum up to less than one. */
  normalized?: boolean;
}

/**
 * A mixture of gated layers: each token goes through the few that its router scores best, weighted by their softmax,
 * which is made to sum up to one over those. Experts that no token of a run has chosen compute nothing.
 * @param at name of a tensor: `gate.weight` is the router, `experts.N.…` are the layers
 */
export function expertsFeedForward(
  g: GraphWriter,
  x: Value,
  at: (name: string) => string,
  { experts, chosen, normalized = true, ...size }: ExpertsSize,
): Value {
  const { width } = size;
  const shape = g.node('Shape', [x]);
  const tokens = g.node('Reshape', [x, g.ints([-1, width])]);
  const scores = linear(g, tokens, at('gate'), { from: width, to: experts, bias: false });
  const likely = g.node('Softmax', [scores], { axis: -1 });
  const [best, which] = g.nodes('TopK', [likely, g.ints([chosen])], {
    ...{ outputs: 2, attributes: { axis: -1 } },
  }) as [Value, Value];
  const total = () => g.node('ReduceSum', [best, g.ints([1])], { keepdims: 1 });
  const weights = normalized ? g.node('Div', [best, total()]) : best;
  let sum = g.node('Mul', [tokens, g.scalar(0)]);
  for (let expert = 0; expert < experts; expert++) {
    // Places [2, count] of this expert among the choices: which token, and as which of its choices.
    const places = g.node('NonZero', [g.node('Equal', [which, g.ints([expert], [])])]);
    const choices = g.node('Transpose', [places], { perm: [1, 0] });
    const rows = g.node('Gather', [choices, g.ints([0])], { axis: 1 });
    const fed = g.node('GatherND', [tokens, rows]);
    const found = gatedFeedForward(g, fed, (name) => at(`experts.${expert}.${name}`), size);
    const factors = g.node('Unsqueeze', [g.node('GatherND', [weights, choices]), g.ints([1])]);
    sum = g.node('ScatterND', [sum, rows, g.node('Mul', [found, factors])], { reduction: 'add' });
  }
  return g.node('Reshape', [sum, shape]);
}
