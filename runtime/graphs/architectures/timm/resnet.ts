import { defineArchitecture } from '../../architecture.js';
import { activation } from '../../blocks/activation.js';
import { batchNorm, convolution2d } from '../../blocks/convolution.js';
import { pictureInput } from '../../blocks/pictures.js';
import type { GraphWriter, Value } from '../../graph-writer.js';
import { countOf, PICTURE, shapeOf, timmHeads, timmConfig } from './config.js';

const STAGES = 4;

interface NormedStep {
  convolution: string;
  norm: string;
  stride?: number;
  /** False where no activation follows. */
  active?: boolean;
}

/** A convolution of the size that its weight has, its norm and an activation. */
function normed(
  g: GraphWriter,
  x: Value,
  { convolution, norm, stride = 1, active = true }: NormedStep,
): Value {
  const [to, each, kernel] = shapeOf(g, `${convolution}.weight`, 4);
  // ResNeXt's middle convolutions read as many channels as they give, in groups.
  const groups = convolution.endsWith('.conv2') && to % each === 0 ? to / each : 1;
  const from = each * groups;
  const found = convolution2d(g, x, convolution, { from, to, kernel, stride, groups, bias: false });
  const even = batchNorm(g, found, norm, { width: to });
  return active ? activation(g, even, 'relu') : even;
}

function stem(g: GraphWriter, pixels: Value): Value {
  if (g.weights.has('conv1.weight'))
    return normed(g, pixels, { convolution: 'conv1', norm: 'bn1', stride: 2 });
  const first = normed(g, pixels, { convolution: 'conv1.0', norm: 'conv1.1', stride: 2 });
  const second = normed(g, first, { convolution: 'conv1.3', norm: 'conv1.4' });
  return normed(g, second, { convolution: 'conv1.6', norm: 'bn1' });
}

function layer(g: GraphWriter, x: Value, at: (name: string) => string, stride: number): Value {
  const isBasic = !g.weights.has(at('conv3.weight'));
  const step = (part: number, more: Partial<NormedStep> = {}) => ({
    ...{ convolution: at(`conv${part}`), norm: at(`bn${part}`), ...more },
  });
  const first = normed(g, x, step(1, isBasic ? { stride } : {}));
  const second = normed(g, first, step(2, isBasic ? { active: false } : { stride }));
  const found = isBasic ? second : normed(g, second, step(3, { active: false }));
  return activation(g, g.node('Add', [found, shortcut(g, x, at, stride)]), 'relu');
}

/** Kinds with a deep stem halve pictures by means first. */
function shortcut(g: GraphWriter, x: Value, at: (name: string) => string, stride: number): Value {
  const [plain, pooled] = [0, 1].map((place) => at(`downsample.${place}`));
  if (g.weights.shapeOf(`${plain}.weight`)?.length === 4)
    return normed(g, x, { convolution: plain!, norm: pooled!, stride, active: false });
  if (!g.weights.has(`${pooled}.weight`)) return x;
  const means = { kernel_shape: [2, 2], strides: [stride, stride], ceil_mode: 1 };
  const read = stride === 1 ? x : g.node('AveragePool', [x], means);
  return normed(g, read, { convolution: pooled!, norm: at('downsample.2'), active: false });
}

function states(g: GraphWriter): Value {
  const from = shapeOf(g, g.weights.has('conv1.weight') ? 'conv1.weight' : 'conv1.0.weight', 4)[1];
  const first = stem(g, pictureInput(g, from));
  let x = g.node('MaxPool', [first], { kernel_shape: [3, 3], strides: [2, 2], pads: [1, 1, 1, 1] });
  for (let stage = 1; stage <= STAGES; stage++) {
    const count = countOf(g, (place) => `layer${stage}.${place}.conv1.weight`);
    for (let i = 0; i < count; i++)
      x = layer(g, x, (name) => `layer${stage}.${i}.${name}`, i === 0 && stage > 1 ? 2 : 1);
  }
  return x;
}

/** timm's resnet.py: ResNet, also with a deep stem (d, t), Wide ResNet and ResNeXt. */
export const timmResnet = defineArchitecture({
  modelTypes: ['timm_resnet'],
  config: timmConfig,
  prefixes: ['timm_model.'],
  heads: timmHeads({
    shape: PICTURE,
    states,
    pool: (g, x) => g.node('Flatten', [g.node('GlobalAveragePool', [x])]),
    head: 'fc',
  }),
});
