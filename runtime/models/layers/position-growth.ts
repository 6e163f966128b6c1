import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';

/**
 * 1 + beta · ln(1 + ⌊position / length⌋), float32 [rows, tokens, 1]; made once for each graph. Source: Llama 4's temperature.
 * @param positions int64 [rows, tokens]
 */
export function positionGrowth(
  g: GraphWriter,
  positions: Value,
  { beta, length }: { beta: number; length: number },
): Value {
  return g.once(`position growth ${beta} ${length}`, () => {
    const whole = g.node('Cast', [g.node('Div', [positions, g.ints([length], [])])], {
      to: ELEMENTS.float32,
    });
    const logarithm = g.node('Log', [g.node('Add', [whole, g.scalar(1)])]);
    const grown = g.node('Add', [g.node('Mul', [logarithm, g.scalar(beta)]), g.scalar(1)]);
    return g.node('Unsqueeze', [grown, g.ints([2])]);
  });
}
