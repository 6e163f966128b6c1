import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { linear } from './linear.js';
import type { Choices } from './moe.js';

export interface SigmoidRouter {
  /** Names of the layer that scores, and of what is added to its sigmoids for the choice alone. */
  gate: string;
  correction?: string | undefined;
  /** Of the tokens. */
  width: number;
  experts: number;
  chosen: number;
  /** False where the sigmoids are the shares; else added to their sum before they are divided by it. */
  epsilon: number | false;
  /** Of the shares. */
  factor?: number;
}

/** The experts with the largest corrected sigmoids; the sigmoids alone are their shares. @param tokens float32 [tokens, width] */
export function sigmoidChoices(g: GraphWriter, tokens: Value, router: SigmoidRouter): Choices {
  const { width, experts, epsilon, factor = 1 } = router;
  const logits = linear(g, tokens, router.gate, { from: width, to: experts, bias: false, isExact: true });
  const scores = g.node('Sigmoid', [logits]);
  const corrected = router.correction
    ? g.node('Add', [scores, g.weight(router.correction, [experts])])
    : scores;
  const [, which] = g.nodes('TopK', [corrected, g.ints([router.chosen])], {
    ...{ outputs: 2, attributes: { axis: 1 } },
  }) as [Value, Value];
  const shares = g.node('GatherElements', [scores, which], { axis: 1 });
  const sum = () => g.node('ReduceSum', [shares, g.ints([1])], { keepdims: 1 });
  const normed =
    epsilon === false ? shares : g.node('Div', [shares, g.node('Add', [sum(), g.scalar(epsilon)])]);
  return { experts, which, weights: factor === 1 ? normed : g.node('Mul', [normed, g.scalar(factor)]) };
}
