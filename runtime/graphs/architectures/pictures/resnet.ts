import { z } from 'zod';
import { defineArchitecture } from '../../architecture.js';
import { activation } from '../../blocks/activation.js';
import { batchNorm, convolution2d, type SquareSize } from '../../blocks/convolution.js';
import { labelScores, pictureHeads, type PictureModel } from '../../blocks/picture-heads.js';
import { pictureInput } from '../../blocks/pictures.js';
import type { GraphWriter, Value } from '../../graph-writer.js';
import { labelCount, labels, size } from '../config.js';
import { channels, stages } from './config.js';

export const resnetConfig = z.object({
  ...labels,
  num_channels: channels,
  embedding_size: size.default(64),
  hidden_sizes: stages.default([256, 512, 1024, 2048]),
  depths: stages.default([3, 4, 6, 3]),
  layer_type: z.enum(['basic', 'bottleneck']).default('bottleneck'),
  hidden_act: z.string().default('relu'),
  downsample_in_first_stage: z.boolean().default(false),
  downsample_in_bottleneck: z.boolean().default(false),
});
export type ResnetConfig = z.output<typeof resnetConfig>;

/** Of the width within a bottleneck. */
const REDUCTION = 4;

type Convolution = SquareSize & { act?: string | undefined };

function normed(g: GraphWriter, x: Value, at: string, { act, ...size }: Convolution): Value {
  const found = convolution2d(g, x, `${at}.convolution`, { ...size, bias: false });
  const even = batchNorm(g, found, `${at}.normalization`, { width: size.to });
  return act === undefined ? even : activation(g, even, act);
}

interface LayerSize {
  from: number;
  to: number;
  stride: number;
}

/** Convolutions beside a shortcut, which is one, too, where sizes change. */
function layer(g: GraphWriter, x: Value, at: string, { c, ...size }: LayerSize & { c: ResnetConfig }): Value {
  const { from, to, stride } = size;
  const found = convolutions(c, size).reduce((read, one, i) => normed(g, read, `${at}.layer.${i}`, one), x);
  const changes = from !== to || stride !== 1;
  const kept = changes ? normed(g, x, `${at}.shortcut`, { from, to, stride, kernel: 1 }) : x;
  return activation(g, g.node('Add', [found, kept]), c.hidden_act);
}

/** Only the last layer's activation is the configured one. */
function convolutions(c: ResnetConfig, { from, to, stride }: LayerSize): Convolution[] {
  const act = 'relu';
  if (c.layer_type === 'basic')
    return [
      { from, to, stride, kernel: 3, act },
      { from: to, to, kernel: 3 },
    ];
  const inner = Math.floor(to / REDUCTION);
  const [first, second] = c.downsample_in_bottleneck ? [stride, 1] : [1, stride];
  return [
    { from, to: inner, kernel: 1, stride: first, act },
    { from: inner, to: inner, kernel: 3, stride: second, act },
    { from: inner, to, kernel: 1 },
  ];
}

/** What each stage gives, after what the first one reads: float32 [rows, width, height, width of the picture]. */
export function resnetStages(g: GraphWriter, pixels: Value, c: ResnetConfig, base: string): Value[] {
  const stem = normed(g, pixels, `${base}embedder.embedder`, {
    ...{ from: c.num_channels, to: c.embedding_size, kernel: 7, stride: 2, act: c.hidden_act },
  });
  const pooled = g.node('MaxPool', [stem], { kernel_shape: [3, 3], strides: [2, 2], pads: [1, 1, 1, 1] });
  const found = [pooled];
  c.hidden_sizes.forEach((to, stage) => {
    let x = found.at(-1)!;
    const halves = stage > 0 || c.downsample_in_first_stage;
    for (let i = 0; i < (c.depths[stage] ?? 0); i++) {
      const from = i > 0 ? to : (c.hidden_sizes[stage - 1] ?? c.embedding_size);
      const stride = i === 0 && halves ? 2 : 1;
      x = layer(g, x, `${base}encoder.stages.${stage}.layers.${i}`, { c, from, to, stride });
    }
    found.push(x);
  });
  return found;
}

function modelOf(c: ResnetConfig): PictureModel {
  const width = c.hidden_sizes.at(-1)!;
  const pool = (g: GraphWriter, states: Value) => g.node('GlobalAveragePool', [states]);
  return {
    ...{ width, labels: labelCount(c), pool },
    shape: ['rows', width, 'lines', 'columns'],
    pooledShape: ['rows', width, 1, 1],
    states: (g) => resnetStages(g, pictureInput(g, c.num_channels), c, 'resnet.').at(-1)!,
    classify: (g, states) => {
      const flat = g.node('Flatten', [pool(g, states)]);
      return labelScores(g, flat, { width, labels: labelCount(c) }, 'classifier.1');
    },
  };
}

/** modeling_resnet.py */
export const resnet = defineArchitecture({
  modelTypes: ['resnet'],
  config: resnetConfig,
  prefixes: ['resnet.'],
  heads: pictureHeads(modelOf),
});
