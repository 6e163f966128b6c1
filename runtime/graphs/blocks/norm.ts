import { float } from '../attributes.js';
import { type GraphWriter, MICROSOFT, type Value } from '../graph-writer.js';

export interface NormOptions {
  width: number;
  epsilon: number;
}

/** torch's LayerNorm over the last axis. */
export function layerNorm(g: GraphWriter, x: Value, name: string, { width, epsilon }: NormOptions): Value {
  const inputs = [x, g.weight(`${name}.weight`, [width]), g.weight(`${name}.bias`, [width])];
  return g.node('LayerNormalization', inputs, { axis: -1, epsilon: float(epsilon) });
}

/** LayerNorm of x + skip, as one node. */
export function skipLayerNorm(
  g: GraphWriter,
  [x, skip]: readonly [Value, Value],
  name: string,
  { width, epsilon }: NormOptions,
): Value {
  const inputs = [x, skip, g.weight(`${name}.weight`, [width]), g.weight(`${name}.bias`, [width])];
  return g.node('SkipLayerNormalization', inputs, { epsilon: float(epsilon) }, MICROSOFT);
}

/**
 * x / sqrt(mean(x²) + epsilon) · weight over the last axis.
 * @param options.offset added to the weight: Gemma stores what differs from 1
 */
export function rmsNorm(
  g: GraphWriter,
  x: Value,
  name: string,
  { width, epsilon, offset = 0 }: NormOptions & { offset?: number },
): Value {
  const stored = g.weight(`${name}.weight`, [width]);
  const weight = offset === 0 ? stored : g.node('Add', [stored, g.scalar(offset)]);
  return g.node('SimplifiedLayerNormalization', [x, weight], { axis: -1, epsilon: float(epsilon) });
}
