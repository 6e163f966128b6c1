import { defineFamily } from '../family.js';
import { convnextLayer } from '../layers/convnext-layer.js';
import { convolution2d } from '../layers/convolution.js';
import { linear, type LinearSize } from '../layers/linear.js';
import { channelNorm, channelsFirst, channelsLast, layerNorm } from '../layers/norm.js';
import { imageInput } from '../layers/patch-embed.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { countOf, IMAGE, shapeOf, timmHeads, timmConfig } from './config.js';

const EPSILON = 1e-6;

/** A matrix, or a convolution over each position by itself, which small kinds have; channels last. */
function layered(g: GraphWriter, x: Value, name: string, size: LinearSize): Value {
  if (g.weights.shapeOf(`${name}.weight`)?.length !== 4) return linear(g, x, name, size);
  return channelsLast(g, convolution2d(g, channelsFirst(g, x), name, { ...size, kernel: 1 }));
}

function layer(g: GraphWriter, x: Value, at: (name: string) => string): Value {
  const [width, , kernel] = shapeOf(g, at('conv_dw.weight'), 4);
  const [inner = 0] = g.weights.shapeOf(at('mlp.fc1.weight')) ?? [];
  const names = {
    ...{ depthwise: at('conv_dw'), norm: at('norm'), wide: at('mlp.fc1'), narrow: at('mlp.fc2') },
    scale: g.weights.has(at('gamma')) ? at('gamma') : undefined,
    response: g.weights.has(at('mlp.grn.weight')) ? { name: at('mlp.grn'), shape: [inner] } : undefined,
  };
  const size = { width, inner, kernel, act: 'gelu', epsilon: EPSILON };
  return convnextLayer(g, x, { ...size, names, project: layered });
}

/** One convolution, or two that look beyond their patch (ols). */
function stem(g: GraphWriter): { x: Value; width: number } {
  const [middle, channels, patch] = shapeOf(g, 'stem.0.weight', 4);
  const pixels = imageInput(g, channels);
  const isDeep = g.weights.shapeOf('stem.1.weight')?.length === 4;
  const cut = { from: channels, to: middle, kernel: patch, stride: isDeep ? 2 : patch };
  const first = convolution2d(g, pixels, 'stem.0', { ...cut, padding: isDeep ? 1 : 0 });
  if (!isDeep)
    return { x: channelNorm(g, first, 'stem.1', { width: middle, epsilon: EPSILON }), width: middle };
  const [width] = shapeOf(g, 'stem.1.weight', 4);
  const second = convolution2d(g, first, 'stem.1', { from: middle, to: width, kernel: 3, stride: 2 });
  return { x: channelNorm(g, second, 'stem.2', { width, epsilon: EPSILON }), width };
}

function states(g: GraphWriter): Value {
  let { x, width } = stem(g);
  const stages = countOf(g, (stage) => `stages.${stage}.blocks.0.conv_dw.weight`);
  for (let stage = 0; stage < stages; stage++) {
    const at = (name: string) => `stages.${stage}.${name}`;
    if (g.weights.has(at('downsample.1.weight'))) {
      const [to, from, kernel] = shapeOf(g, at('downsample.1.weight'), 4);
      const even = channelNorm(g, x, at('downsample.0'), { width, epsilon: EPSILON });
      const size = { from, to, kernel, stride: stage === 0 ? 1 : 2, padding: 0 };
      x = convolution2d(g, even, at('downsample.1'), size);
      width = to;
    }
    const count = countOf(g, (place) => at(`blocks.${place}.conv_dw.weight`));
    for (let i = 0; i < count; i++) x = layer(g, x, (name) => at(`blocks.${i}.${name}`));
  }
  return x;
}

/** timm's convnext.py, both versions. */
export const timmConvnext = defineFamily({
  modelTypes: ['timm_convnext'],
  usualTask: 'image-classification',
  config: timmConfig,
  prefixes: ['timm_model.'],
  heads: timmHeads({
    shape: IMAGE,
    states,
    pool(g, x) {
      const [width = 0] = g.weights.shapeOf('head.norm.weight') ?? [];
      const mean = g.node('ReduceMean', [x, g.ints([2, 3])], { keepdims: 0 });
      return layerNorm(g, mean, 'head.norm', { width, epsilon: EPSILON });
    },
    head: 'head.fc',
  }),
});
