import * as z from 'zod';
import { roundHalfEven } from '../../core/round-half-even.js';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { normedConvolution, type NormedSize } from '../layers/convolution.js';
import { imageHeads } from '../bases/vision/image-heads.js';
import { imageInput } from '../layers/patch-embed.js';
import { squeezeExcitation } from '../layers/squeeze-excitation.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { labels, size } from '../config-fields.js';
import { channels, stages } from '../bases/vision/vit-config.js';
import { convolutionalModel } from './resnet.js';

const config = z
  .object({
    ...labels,
    num_channels: channels,
    embedding_size: size.default(32),
    hidden_sizes: stages.default([128, 192, 512, 1088]),
    depths: stages.default([2, 6, 12, 2]),
    groups_width: size.default(64),
    layer_type: z.enum(['x', 'y']).default('y'),
    hidden_act: z.string().default('relu'),
  })
  .refine((c) => c.depths.length === c.hidden_sizes.length, {
    ...{ message: 'hidden_sizes has another length', path: ['depths'] },
  });
type Config = z.output<typeof config>;

interface LayerOf {
  at: string;
  from: number;
  to: number;
  stride: number;
}

/** A bottleneck as wide as what it gives, with groups of channels; in kind y the channels are weighed. */
function layer(g: GraphWriter, x: Value, c: Config, { at, from, to, stride }: LayerOf): Value {
  const normed = (read: Value, name: string, one: NormedSize) =>
    normedConvolution(
      ...[g, read],
      { convolution: `${at}.${name}.convolution`, norm: `${at}.${name}.normalization` },
      one,
    );
  const act = c.hidden_act;
  const groups = Math.max(1, Math.floor(to / c.groups_width));
  const first = normed(x, 'layer.0', { from, to, kernel: 1, act });
  const second = normed(first, 'layer.1', { from: to, to, kernel: 3, stride, groups, act });
  const weighs = c.layer_type === 'y';
  const weighed = weighs
    ? squeezeExcitation(g, second, {
        ...{ narrow: `${at}.layer.2.attention.0`, wide: `${at}.layer.2.attention.2` },
        ...{ width: to, inner: roundHalfEven(from / 4), act: 'relu' },
      })
    : second;
  const found = normed(weighed, weighs ? 'layer.3' : 'layer.2', { from: to, to, kernel: 1 });
  const changes = from !== to || stride !== 1;
  const kept = changes ? normed(x, 'shortcut', { from, to, stride, kernel: 1 }) : x;
  return activation(g, g.node('Add', [found, kept]), act);
}

function statesOf(g: GraphWriter, c: Config): Value {
  const stem = 'regnet.embedder.embedder';
  let x = normedConvolution(
    ...[g, imageInput(g, c.num_channels)],
    { convolution: `${stem}.convolution`, norm: `${stem}.normalization` },
    { from: c.num_channels, to: c.embedding_size, kernel: 3, stride: 2, act: c.hidden_act },
  );
  let from = c.embedding_size;
  c.hidden_sizes.forEach((to, stage) => {
    for (let i = 0; i < c.depths[stage]!; i++) {
      const at = `regnet.encoder.stages.${stage}.layers.${i}`;
      x = layer(g, x, c, { at, from, to, stride: i === 0 ? 2 : 1 });
      from = to;
    }
  });
  return x;
}

/** modeling_regnet.py */
export const regnet = defineFamily({
  modelTypes: ['regnet'],
  readers: { processor: 'ConvNext' },
  memory: { convolutional: true },
  config,
  prefixes: ['regnet.'],
  heads: imageHeads((c: Config) => convolutionalModel(c, (g) => statesOf(g, c))),
});
