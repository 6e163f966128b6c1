import * as z from 'zod';
import { defineFamily } from '../family.js';
import { labelScores, imageHeads } from '../bases/vision/image-heads.js';
import type { ImageModel } from '../bases/vision/image-encoder.js';
import { imageInput } from '../layers/patch-embed.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { labelCount, labels, size } from '../config-fields.js';
import { channels, stages } from '../bases/vision/vit-config.js';
import { residualStages, type ResidualNames } from '../bases/vision/resnet-stages.js';

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

/** Names of transformers' own network. */
export const resnetNames = (base: string): ResidualNames => {
  const pair = (at: string) => ({ convolution: `${at}.convolution`, norm: `${at}.normalization` });
  return {
    stem: pair(`${base}embedder.embedder`),
    part: ({ stage, layer, part }) => pair(`${base}encoder.stages.${stage}.layers.${layer}.layer.${part}`),
    deepStem: (part) => pair(`${base}embedder.embedder.${part}`),
    shortcut: ({ stage, layer }, isPooled) =>
      pair(`${base}encoder.stages.${stage}.layers.${layer}.shortcut${isPooled ? '.1' : ''}`),
  };
};

type Sizes = Pick<ResnetConfig, 'hidden_sizes' | 'id2label' | 'num_labels'>;

/** A network whose last stage is pooled and labelled as ResNet's. @param head name of the layer that labels */
export function convolutionalModel(
  c: Sizes,
  states: ImageModel['states'],
  head = 'classifier.1',
): ImageModel {
  const width = c.hidden_sizes.at(-1)!;
  const pool = (g: GraphWriter, x: Value) => g.node('GlobalAveragePool', [x]);
  return {
    ...{ width, labels: labelCount(c), pool, states },
    shape: ['rows', width, 'lines', 'columns'],
    pooledShape: ['rows', width, 1, 1],
    classify: (g, x) => {
      const flat = g.node('Flatten', [pool(g, x)]);
      return labelScores(g, flat, { width, labels: labelCount(c) }, head);
    },
  };
}

/** modeling_resnet.py */
export const resnet = defineFamily({
  modelTypes: ['resnet'],
  readers: { processor: 'ConvNext' },
  memory: { convolutional: true },
  config: resnetConfig,
  prefixes: ['resnet.'],
  heads: imageHeads((c: ResnetConfig) =>
    convolutionalModel(c, (g) =>
      residualStages(g, imageInput(g, c.num_channels), c, resnetNames('resnet.')).at(-1)!,
    ),
  ),
});
