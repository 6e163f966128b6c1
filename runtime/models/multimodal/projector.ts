import { activation } from '../layers/activation.js';
import { linear } from '../layers/linear.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

export interface ProjectorSizes {
  from: number;
  /** Width of the language model. */
  to: number;
  /** Between both layers; the language model's by default. */
  inner?: number;
  act: string;
  bias: boolean;
}

/** Two layers that make features for a language model of what an encoder gives: `multi_modal_projector.linear_1` and `linear_2`. */
export function projected(
  g: GraphWriter,
  seen: Value,
  { from, to, inner = to, act, bias }: ProjectorSizes,
): Value {
  const at = (name: string) => `multi_modal_projector.${name}`;
  const active = activation(g, linear(g, seen, at('linear_1'), { from, to: inner, bias }), act);
  return linear(g, active, at('linear_2'), { from: inner, to, bias });
}
