import type { Attributes } from '../writer/attributes.js';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { imageInput } from '../layers/patch-embed.js';
import { channelMeans, halvedByLargest } from '../layers/pooling.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { channelScale } from './channel-scale.js';
import { type Channels, countOf, IMAGE, shapeOf, type TimmConfig, timmConfig, timmHeads } from './config.js';
import { normed } from './normed.js';

const STAGES = 4;

/** Means of 2 x 2. */
const means = (g: GraphWriter, x: Value, attributes: Attributes = {}): Value =>
  g.node('AveragePool', [x], { kernel_shape: [2, 2], strides: [2, 2], ...attributes });

function stem(g: GraphWriter, pixels: Channels): Channels {
  if (g.weights.has('conv1.weight'))
    return normed(g, pixels, { convolution: 'conv1', norm: 'bn1', stride: 2 });
  const first = normed(g, pixels, { convolution: 'conv1.0', norm: 'conv1.1', stride: 2 });
  const second = normed(g, first, { convolution: 'conv1.3', norm: 'conv1.4' });
  return normed(g, second, { convolution: 'conv1.6', norm: 'bn1' });
}

/** What halves the stem's channels: a convolution where it has a weight, means where all strides are made of them. */
function halved(g: GraphWriter, found: Channels, byMeans: boolean): Channels {
  if (g.weights.has('maxpool.0.weight'))
    return normed(g, found, { convolution: 'maxpool.0', norm: 'maxpool.1', stride: 2 });
  if (byMeans) return { ...found, x: means(g, found.x) };
  return { ...found, x: halvedByLargest(g, found.x) };
}

interface Place {
  at: (name: string) => string;
  stride: number;
  /** Strides are means behind a convolution without one. */
  byMeans: boolean;
}

function layer(g: GraphWriter, x: Channels, { at, stride, byMeans }: Place): Channels {
  const isBasic = !g.weights.has(at('conv3.weight'));
  const step = (part: number, active = true) => ({
    convolution: at(`conv${part}`),
    norm: at(`bn${part}`),
    active,
  });
  const strided = (value: Channels, part: number): Channels => {
    if (!byMeans || stride === 1) return normed(g, value, { ...step(part), stride });
    const found = normed(g, value, step(part));
    return { ...found, x: means(g, found.x) };
  };
  const found = isBasic
    ? normed(g, strided(x, 1), step(2, false))
    : normed(g, strided(normed(g, x, step(1)), 2), step(3, false));
  const scaled = channelScale(g, found, at('se'));
  return { ...found, x: activation(g, g.node('Add', [scaled, shortcut(g, x, at, stride)]), 'relu') };
}

/** Kinds with a deep stem halve images by means first. */
function shortcut(g: GraphWriter, x: Channels, at: (name: string) => string, stride: number): Value {
  const [plain, pooled] = [0, 1].map((place) => at(`downsample.${place}`));
  if (g.weights.shapeOf(`${plain}.weight`)?.length === 4)
    return normed(g, x, { convolution: plain!, norm: pooled!, stride, active: false }).x;
  if (!g.weights.has(`${pooled}.weight`)) return x.x;
  const read = stride === 1 ? x : { ...x, x: means(g, x.x, { ceil_mode: 1 }) };
  return normed(g, read, { convolution: pooled!, norm: at('downsample.2'), active: false }).x;
}

function states(g: GraphWriter, { architecture }: TimmConfig): Value {
  const byMeans = /resnex?taa/.test(architecture);
  const from = shapeOf(g, g.weights.has('conv1.weight') ? 'conv1.weight' : 'conv1.0.weight', 4)[1];
  let x = halved(g, stem(g, { x: imageInput(g, from), width: from }), byMeans);
  for (let stage = 1; stage <= STAGES; stage++) {
    const count = countOf(g, (place) => `layer${stage}.${place}.conv1.weight`);
    for (let i = 0; i < count; i++) {
      const at = (name: string) => `layer${stage}.${i}.${name}`;
      x = layer(g, x, { at, stride: i === 0 && stage > 1 ? 2 : 1, byMeans });
    }
  }
  return x.x;
}

/** timm's resnet.py: ResNet, also with a deep stem, Wide ResNet, ResNeXt, and those whose channels are scaled (SE, ECA). */
export const timmResnet = defineFamily({
  modelTypes: ['timm_resnet'],
  usualTask: 'image-classification',
  config: timmConfig,
  prefixes: ['timm_model.'],
  heads: timmHeads({
    shape: IMAGE,
    states,
    pool: channelMeans,
    head: 'fc',
  }),
});
