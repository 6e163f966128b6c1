import { sinusoids } from '../../layers/sinusoids.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';

/**
 * Sines and cosines of positions in turns, times a learned factor: float32 [..., width] for int64 [...].
 * SpeechT5ScaledPositionalEncoding
 */
export function scaledPositions(g: GraphWriter, positions: Value, prenet: string, width: number): Value {
  const halves = sinusoids(g, positions, width, (i) => Math.exp(2 * i * -(Math.log(10_000) / width)));
  const shape = g.node('Shape', [halves]);
  const parts = g.nodes('Split', [halves, g.ints([width / 2, width / 2])], {
    ...{ outputs: 2, attributes: { axis: -1 } },
  });
  const pairs = parts.map((part) => g.node('Unsqueeze', [part, g.ints([-1])]));
  const inTurns = g.node('Reshape', [g.node('Concat', pairs, { axis: -1 }), shape]);
  return g.node('Mul', [inTurns, g.weight(`${prenet}.encode_positions.alpha`, [])]);
}
