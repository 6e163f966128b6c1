import { activation } from '../../blocks/activation.js';
import { linear } from '../../blocks/linear.js';
import { sinusoids } from '../../blocks/sinusoids.js';
import type { GraphWriter, Value } from '../../graph-writer.js';

export interface TimeSines {
  width: number;
  /** Cosines stand before sines. */
  flipped: boolean;
  shift: number;
}

/** diffusers' Timesteps of float32 [...]: [..., width]. */
export function timeSines(g: GraphWriter, times: Value, { width, flipped, shift }: TimeSines): Value {
  const half = width / 2;
  const found = sinusoids(g, times, width, (i) => {
    const exponent = Math.fround(Math.fround(-Math.log(10_000) * i) / Math.fround(half - shift));
    return Math.fround(Math.exp(exponent));
  });
  if (!flipped) return found;
  const [sines, cosines] = g.nodes('Split', [found, g.ints([half, half])], {
    ...{ outputs: 2, attributes: { axis: -1 } },
  }) as [Value, Value];
  return g.node('Concat', [cosines, sines], { axis: -1 });
}

export interface TimeLayers {
  from: number;
  to: number;
  act: string;
}

/** diffusers' TimestepEmbedding: float32 [..., from] -> [..., to]. */
export function timeLayers(g: GraphWriter, x: Value, name: string, { from, to, act }: TimeLayers): Value {
  const wide = activation(g, linear(g, x, `${name}.linear_1`, { from, to }), act);
  return linear(g, wide, `${name}.linear_2`, { from: to, to });
}
