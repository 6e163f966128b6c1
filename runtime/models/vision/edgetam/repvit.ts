import { activation } from '../../layers/activation.js';
import { convolution2d, batchNorm, normedConvolution, type NormedSize } from '../../layers/convolution.js';
import { squeezeExcitation } from '../../layers/squeeze-excitation.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import type { RepVitConfig } from './config.js';

/** Of one stage: float32 [rows, width, lines, columns]. */
export interface RepVitStage {
  x: Value;
  width: number;
}

/** A convolution and its norm by the names of both. */
const step = (g: GraphWriter, x: Value, name: string, size: NormedSize): Value =>
  normedConvolution(g, x, { convolution: `${name}.c`, norm: `${name}.bn` }, size);

/** Two layers over the channels of each cell, what they read added: float32 [rows, width, lines, columns]. */
function mixed(g: GraphWriter, x: Value, name: string, { width, inner }: Record<'width' | 'inner', number>) {
  const wide = step(g, x, `${name}.conv1`, { from: width, to: inner, kernel: 1, act: 'gelu' });
  return g.node('Add', [x, step(g, wide, `${name}.conv2`, { from: inner, to: width, kernel: 1 })]);
}

interface BlockOf {
  c: RepVitConfig;
  width: number;
  /** True where the means of all channels scale each. */
  scales: boolean;
}

/** Neighbours of each channel and the cell itself, summed, and what channels say of each other. */
function block(g: GraphWriter, x: Value, name: string, { c, width, scales }: BlockOf): Value {
  const own = { from: width, to: width, groups: width };
  const near = step(g, x, `${name}.token_mixer.conv`, { ...own, kernel: 3 });
  const alone = `${name}.token_mixer.conv1`;
  const kept = c.isLegacy
    ? step(g, x, alone, { ...own, kernel: 1 })
    : convolution2d(g, x, alone, { ...own, kernel: 1 });
  const summed = g.node('Add', [g.node('Add', [near, kept]), x]);
  const read = c.isLegacy ? summed : batchNorm(g, summed, `${name}.token_mixer.bn`, { width });
  const scaled = scales
    ? squeezeExcitation(g, read, {
        ...{ narrow: `${name}.se.fc1`, wide: `${name}.se.fc2`, width, act: 'relu' },
        inner: narrowWidth(width),
      })
    : read;
  return mixed(g, scaled, `${name}.channel_mixer`, { width, inner: width * c.ratio });
}

/** timm's make_divisible: a quarter, in eights. */
const narrowWidth = (width: number): number => Math.max(8, Math.floor((width / 4 + 4) / 8) * 8);

/** Half of the edge, of another width. */
function smaller(
  g: GraphWriter,
  x: Value,
  name: string,
  { c, from, to }: Pick<BlockOf, 'c'> & Record<'from' | 'to', number>,
): Value {
  const before = block(g, x, `${name}.pre_block`, { c, width: from, scales: false });
  const half = { from, to: from, groups: from, kernel: 3, stride: 2 };
  const less = step(g, before, `${name}.spatial_downsample`, half);
  const wide = step(g, less, `${name}.channel_downsample`, { from, to, kernel: 1 });
  return mixed(g, wide, `${name}.ffn`, { width: to, inner: to * c.ratio });
}

/** What each stage gives, the fine ones first. timm's repvit.py @param pixels float32 [rows, 3, height, width] */
export function repVitStages(g: GraphWriter, c: RepVitConfig, pixels: Value, base: string): RepVitStage[] {
  const first = c.widths[0]!;
  const half = Math.floor(first / 2);
  const stem = { kernel: 3, stride: 2 };
  const cut = step(g, pixels, `${base}stem.conv1`, { ...stem, from: 3, to: half });
  let x = step(g, activation(g, cut, 'gelu'), `${base}stem.conv2`, { ...stem, from: half, to: first });
  return c.widths.map((width, stage) => {
    const at = `${base}stages_${stage}`;
    if (stage > 0) x = smaller(g, x, `${at}.downsample`, { c, from: c.widths[stage - 1]!, to: width });
    for (let i = 0; i < c.depths[stage]!; i++)
      x = block(g, x, `${at}.blocks.${i}`, { c, width, scales: i % 2 === 0 });
    return { x, width };
  });
}
