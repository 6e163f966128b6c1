import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';

/**
 * 1 + beta · ln(1 + ⌊(position + first) / length⌋), float32 [rows, tokens, 1]; made once for each graph. Source: Llama 4's temperature.
 * @param positions int64 [rows, tokens]
 * @param first number of a text's first token; 0 if absent
 */
export function positionGrowth(
  g: GraphWriter,
  positions: Value,
  { beta, length, first = 0 }: { beta: number; length: number; first?: number },
): Value {
  return g.once(`position growth ${beta} ${length} ${first}`, () => {
    const numbers = first === 0 ? positions : g.node('Add', [positions, g.ints([first], [])]);
    const whole = g.node('Cast', [g.node('Div', [numbers, g.ints([length], [])])], {
      to: ELEMENTS.float32,
    });
    const logarithm = g.node('Log', [g.node('Add', [whole, g.scalar(1)])]);
    const grown = g.node('Add', [g.node('Mul', [logarithm, g.scalar(beta)]), g.scalar(1)]);
    return g.node('Unsqueeze', [grown, g.ints([2])]);
  });
}
