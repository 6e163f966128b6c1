import * as z from 'zod';
import { activation } from '../../layers/activation.js';
import { batchNorm, convolution } from '../../layers/convolution.js';
import { labelScores } from './image-heads.js';
import type { ImageModel } from './image-encoder.js';
import { channelMeans } from '../../layers/pooling.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { epsilon, labelCount, labels, size } from '../../config-fields.js';
import { channels } from './vit-config.js';

/** What configurations of both MobileNets have in common. */
export const mobilenetConfig = {
  ...labels,
  num_channels: channels,
  depth_multiplier: z.number().min(0.01).max(64).default(1),
  min_depth: size.default(8),
  hidden_act: z.string().default('relu6'),
  tf_padding: z.boolean().default(true),
  layer_norm_eps: epsilon.default(0.001),
};
export type MobilenetConfig = z.output<z.ZodObject<typeof mobilenetConfig>>;

export interface Step {
  name: string;
  to: number;
  kernel: 1 | 3;
  stride?: number;
  /** Each channel by itself. */
  apart?: boolean;
  /** False where no activation follows. */
  active?: boolean;
}

/** The nearest multiple that is no more than a tenth smaller. */
export function divisible(value: number, { divisor, least }: { divisor: number; least: number }): number {
  const nearest = Math.max(least, Math.floor(Math.trunc(value + divisor / 2) / divisor) * divisor);
  return nearest < 0.9 * value ? nearest + divisor : nearest;
}

/** Channels over lines and columns: float32 [rows, width, lines, columns]. */
export interface StepMap {
  x: Value;
  width: number;
}

/** Convolution, norm and activation. */
export function stepped(
  g: GraphWriter,
  { x, width: from }: StepMap,
  c: MobilenetConfig,
  step: Step,
): StepMap {
  const { name, to, kernel, stride = 1, apart = false, active = true } = step;
  const edge = (kernel - 1) / 2;
  const found = convolution(g, x, `${name}.convolution`, {
    ...{ from, to, kernel: [kernel, kernel], stride: [stride, stride], bias: false },
    ...{ padding: c.tf_padding ? 'same' : [edge, edge], groups: apart ? from : 1 },
  });
  const normed = batchNorm(g, found, `${name}.normalization`, { width: to, epsilon: c.layer_norm_eps });
  return { x: active ? activation(g, normed, c.hidden_act) : normed, width: to };
}

/** @param width of the last step */
export function mobilenetModel(
  c: MobilenetConfig,
  width: number,
  states: (g: GraphWriter) => Value,
): ImageModel {
  const sizes = { width, labels: labelCount(c) };
  return {
    ...{ ...sizes, states, pool: channelMeans, shape: ['rows', width, 'lines', 'columns'] },
    classify: (g, x) => labelScores(g, channelMeans(g, x), sizes),
  };
}
