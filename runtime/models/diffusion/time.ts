import { activation } from '../layers/activation.js';
import { linear } from '../layers/linear.js';
import { sinusoids } from '../layers/sinusoids.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

export interface TimeSines {
  width: number;
  /** Cosines stand before sines. */
  flipped: boolean;
  shift: number;
}

/** Rounded as Python rounds each step: an angle of a thousand shows the last digit of its frequency. */
const RANGE = Math.fround(-Math.log(10_000));

/** diffusers' Timesteps of float32 [...]: [..., width]. */
export function timeSines(g: GraphWriter, times: Value, { width, flipped, shift }: TimeSines): Value {
  const half = width / 2;
  const found = sinusoids(g, times, width, (i) => {
    const exponent = Math.fround(Math.fround(RANGE * i) / Math.fround(half - shift));
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

/** Of the transformers, whatever their width. */
const SINES: TimeSines = { width: 256, flipped: true, shift: 0 };

export interface TimeAndText {
  /** float32 [steps] */
  time: Value;
  /** float32 [rows, pooledWidth]: the text as one vector. */
  pooled: Value;
  /** float32 [rows]: how much the text counts, for networks that were trained to be told. */
  guidance?: Value | undefined;
}

/** diffusers' CombinedTimestep(Guidance)TextProjEmbeddings: float32 [rows, width]. */
export function timeAndText(
  g: GraphWriter,
  { time, pooled, guidance }: TimeAndText,
  { width, pooledWidth }: { width: number; pooledWidth: number },
): Value {
  const at = (name: string) => `time_text_embed.${name}`;
  const layers = (x: Value, name: string, from: number) =>
    timeLayers(g, x, at(name), { from, to: width, act: 'silu' });
  const sines = (x: Value, name: string) => layers(timeSines(g, x, SINES), name, SINES.width);
  const own = sines(time, 'timestep_embedder');
  const told = guidance ? g.node('Add', [own, sines(guidance, 'guidance_embedder')]) : own;
  return g.node('Add', [told, layers(pooled, 'text_embedder', pooledWidth)]);
}
