import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { imageInput } from '../layers/patch-embed.js';
import { channelMeans } from '../layers/pooling.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { channelScale } from './channel-scale.js';
import { type Channels, countOf, IMAGE, shapeOf, timmConfig, timmHeads } from './config.js';
import { normed } from './normed.js';

const STAGES = 4;

function layer(g: GraphWriter, x: Channels, name: string, stride: number): Channels {
  const step = (value: Channels, part: string, more: { stride?: number; active?: boolean } = {}) =>
    normed(g, value, { convolution: `${name}.${part}.conv`, norm: `${name}.${part}.bn`, ...more });
  const wide = step(step(x, 'conv1'), 'conv2', { stride });
  const scaled = { ...wide, x: channelScale(g, wide, `${name}.se`) };
  const found = step(scaled, 'conv3', { active: false });
  const isNarrowed = g.weights.has(`${name}.downsample.conv.weight`);
  const before = isNarrowed ? step(x, 'downsample', { stride, active: false }) : x;
  return { ...found, x: activation(g, g.node('Add', [found.x, before.x]), 'relu') };
}

function states(g: GraphWriter): Value {
  const [, from] = shapeOf(g, 'stem.conv.weight', 4);
  const pixels = { x: imageInput(g, from), width: from };
  let x = normed(g, pixels, { convolution: 'stem.conv', norm: 'stem.bn', stride: 2 });
  for (let stage = 1; stage <= STAGES; stage++) {
    const count = countOf(g, (place) => `s${stage}.b${place + 1}.conv1.conv.weight`);
    for (let i = 1; i <= count; i++) x = layer(g, x, `s${stage}.b${i}`, i === 1 ? 2 : 1);
  }
  return x.x;
}

/** timm's regnet.py: RegNet X and Y. */
export const timmRegnet = defineFamily({
  modelTypes: ['timm_regnet'],
  config: timmConfig,
  prefixes: ['timm_model.'],
  heads: timmHeads({
    shape: IMAGE,
    states,
    pool: channelMeans,
    head: 'head.fc',
  }),
});
