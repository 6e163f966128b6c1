import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { linear } from './linear.js';
import type { Choices } from './moe.js';

interface SigmoidScores {
  /** Name of the layer that scores. */
  gate: string;
  /** Of the tokens. */
  width: number;
  experts: number;
}

/** What DeepSeek 3, and families after it, add to the sum of shares. */
export const LEAST_SUM = 1e-20;

interface Shares {
  /** False where the sigmoids are the shares; else added to their sum before they are divided by it. */
  epsilon: number | false;
  /** Of the shares; 1 if absent. */
  factor?: number;
}

export interface SigmoidRouter extends SigmoidScores, Shares {
  /** Name of what is added to the sigmoids for the choice alone. */
  correction?: string | undefined;
  chosen: number;
}

/** float32 [tokens, experts] */
export function sigmoidScores(g: GraphWriter, tokens: Value, { gate, width, experts }: SigmoidScores): Value {
  const size = { from: width, to: experts, bias: false, isExact: true };
  return g.node('Sigmoid', [linear(g, tokens, gate, size)]);
}

/** Shares of the chosen experts, float32 [tokens, chosen]: their sigmoids. @param which int64 [tokens, chosen] */
export function sharesOf(g: GraphWriter, scores: Value, which: Value, { epsilon, factor }: Shares): Value {
  const shares = g.node('GatherElements', [scores, which], { axis: 1 });
  const sum = () => g.node('ReduceSum', [shares, g.ints([1])], { keepdims: 1 });
  const normed =
    epsilon === false ? shares : g.node('Div', [shares, g.node('Add', [sum(), g.scalar(epsilon)])]);
  return factor === undefined ? normed : g.node('Mul', [normed, g.scalar(factor)]);
}

/** The experts with the largest corrected sigmoids; the sigmoids alone are their shares. @param tokens float32 [tokens, width] */
export function sigmoidChoices(g: GraphWriter, tokens: Value, router: SigmoidRouter): Choices {
  const { experts, correction } = router;
  const scores = sigmoidScores(g, tokens, router);
  const corrected = correction ? g.node('Add', [scores, g.weight(correction, [experts])]) : scores;
  const [, which] = g.nodes('TopK', [corrected, g.ints([router.chosen])], {
    ...{ outputs: 2, attributes: { axis: 1 } },
  }) as [Value, Value];
  return { experts, which, weights: sharesOf(g, scores, which, router) };
}
