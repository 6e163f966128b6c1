import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { batchNorm, convolution2d } from '../layers/convolution.js';
import { imageInput } from '../layers/patch-embed.js';
import { channelMeans, halvedByLargest } from '../layers/pooling.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { type Channels, countOf, IMAGE, shapeOf, timmConfig, timmHeads } from './config.js';
import { normed } from './normed.js';

function even(g: GraphWriter, { x, width }: Channels, norm: string): Value {
  return activation(g, batchNorm(g, x, norm, { width, epsilon: 1e-5 }), 'relu');
}

/** A norm, Relu and a convolution, in this order. */
function step(g: GraphWriter, x: Channels, { norm, name }: { norm: string; name: string }): Channels {
  const [to, , kernel] = shapeOf(g, `${name}.weight`, 4);
  const size = { from: x.width, to, kernel, bias: false };
  return { x: convolution2d(g, even(g, x, norm), name, size), width: to };
}

/** Each layer reads what all before it have given. */
function dense(g: GraphWriter, x: Channels, name: string): Channels {
  let all = x;
  const count = countOf(g, (place) => `${name}.denselayer${place + 1}.conv1.weight`);
  for (let i = 1; i <= count; i++) {
    const part = (place: number) => ({
      norm: `${name}.denselayer${i}.norm${place}`,
      name: `${name}.denselayer${i}.conv${place}`,
    });
    const found = step(g, step(g, all, part(1)), part(2));
    all = { x: g.node('Concat', [all.x, found.x], { axis: 1 }), width: all.width + found.width };
  }
  return all;
}

function states(g: GraphWriter): Value {
  const [, from] = shapeOf(g, 'features.conv0.weight', 4);
  const pixels = { x: imageInput(g, from), width: from };
  const first = normed(g, pixels, { convolution: 'features.conv0', norm: 'features.norm0', stride: 2 });
  let x = { ...first, x: halvedByLargest(g, first.x) };
  const blocks = countOf(g, (place) => `features.denseblock${place + 1}.denselayer1.conv1.weight`);
  for (let block = 1; block <= blocks; block++) {
    x = dense(g, x, `features.denseblock${block}`);
    if (block === blocks) break;
    const name = `features.transition${block}`;
    const narrow = step(g, x, { norm: `${name}.norm`, name: `${name}.conv` });
    x = { ...narrow, x: g.node('AveragePool', [narrow.x], { kernel_shape: [2, 2], strides: [2, 2] }) };
  }
  return even(g, x, 'features.norm5');
}

/** timm's densenet.py */
export const timmDensenet = defineFamily({
  modelTypes: ['timm_densenet'],
  config: timmConfig,
  prefixes: ['timm_model.'],
  heads: timmHeads({
    shape: IMAGE,
    states,
    pool: channelMeans,
    head: 'classifier',
  }),
});
