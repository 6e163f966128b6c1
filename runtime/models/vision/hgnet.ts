import * as z from 'zod';
import { defineFamily } from '../family.js';
import { normedConvolution, type NormedSize } from '../layers/convolution.js';
import { imageHeads } from '../bases/vision/image-heads.js';
import { imageInput } from '../layers/patch-embed.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { labels, size } from '../config-fields.js';
import { channels, stages } from '../bases/vision/vit-config.js';
import { convolutionalModel } from './resnet.js';

const flags = (given: readonly boolean[]) =>
  z
    .array(z.boolean())
    .max(64)
    .default([...given]);

export const hgnetFields = {
  ...labels,
  num_channels: channels,
  hidden_act: z.string().default('relu'),
  depths: stages.default([3, 4, 6, 3]),
  stem_channels: z.tuple([size, size, size]).default([3, 32, 48]),
  stage_in_channels: stages.default([48, 128, 512, 1024]),
  stage_mid_channels: stages.default([48, 96, 192, 384]),
  stage_out_channels: stages.default([128, 512, 1024, 2048]),
  stage_num_blocks: stages.default([1, 1, 3, 1]),
  stage_downsample: flags([false, true, true, true]),
  stage_light_block: flags([false, false, true, true]),
  stage_kernel_size: stages.default([3, 3, 5, 5]),
  stage_numb_of_layers: stages.default([6, 6, 6, 6]),
  use_learnable_affine_block: z.boolean().default(false),
};

/** Every list has a number for each stage. */
export function sameLengths(c: z.output<z.ZodObject<typeof hgnetFields>>, context: z.RefinementCtx): void {
  for (const [name, value] of Object.entries(c)) {
    const isStages = name.startsWith('stage_') && Array.isArray(value);
    if (isStages && value.length !== c.depths.length)
      context.addIssue({ code: 'custom', message: 'depths has another length', path: [name] });
  }
}

const config = z.object(hgnetFields).superRefine(sameLengths);
export type HgnetConfig = z.output<typeof config>;

type Written = Omit<NormedSize, 'epsilon'>;

/** Writes a convolution, its norm and its activation, and what scales and moves all of that. */
function convolver(g: GraphWriter, { use_learnable_affine_block: scales }: HgnetConfig) {
  return (x: Value, at: string, size: Written): Value => {
    // Zeros on both sides alike: a kernel of two has none.
    const padding = Math.floor((size.kernel - 1) / 2);
    const names = { convolution: `${at}.convolution`, norm: `${at}.normalization` };
    const found = normedConvolution(g, x, names, { padding, ...size });
    if (size.act === undefined || !scales) return found;
    const scaled = g.node('Mul', [found, g.weight(`${at}.lab.scale`, [1])]);
    return g.node('Add', [scaled, g.weight(`${at}.lab.bias`, [1])]);
  };
}
type Convolve = ReturnType<typeof convolver>;

function stemOf(g: GraphWriter, pixels: Value, c: HgnetConfig, base: string): Value {
  const convolve = convolver(g, c);
  const [from, width, to] = c.stem_channels;
  const half = Math.floor(width / 2);
  const at = (name: string) => `${base}embedder.${name}`;
  const act = c.hidden_act;
  // A line and a column of zeros behind the others.
  const padded = (x: Value) => g.node('Pad', [x, g.ints([0, 0, 0, 0, 0, 0, 1, 1])]);
  const first = padded(convolve(pixels, at('stem1'), { from, to: width, kernel: 3, stride: 2, act }));
  const narrow = padded(convolve(first, at('stem2a'), { from: width, to: half, kernel: 2, act }));
  const read = convolve(narrow, at('stem2b'), { from: half, to: width, kernel: 2, act });
  const pooled = g.node('MaxPool', [first], { kernel_shape: [2, 2], strides: [1, 1], ceil_mode: 1 });
  const both = g.node('Concat', [pooled, read], { axis: 1 });
  const third = convolve(both, at('stem3'), { from: 2 * width, to: width, kernel: 3, stride: 2, act });
  return convolve(third, at('stem4'), { from: width, to, kernel: 1, act });
}

interface BlockOf {
  at: string;
  from: number;
  inner: number;
  to: number;
  layers: number;
  kernel: number;
  isLight: boolean;
}

/** What all layers give side by side, made narrow. */
function block(
  g: GraphWriter,
  x: Value,
  convolve: Convolve,
  { at, from, inner, to, layers, kernel, isLight }: BlockOf,
): Value {
  const all = [x];
  const act = 'relu';
  for (let i = 0; i < layers; i++) {
    const name = `${at}.layers.${i}`;
    const size = { from: i === 0 ? from : inner, to: inner };
    const read = all.at(-1)!;
    const light = () =>
      convolve(convolve(read, `${name}.conv1`, { ...size, kernel: 1 }), `${name}.conv2`, {
        ...{ from: inner, to: inner, kernel, groups: inner, act },
      });
    all.push(isLight ? light() : convolve(read, name, { ...size, kernel, act }));
  }
  const half = Math.floor(to / 2);
  const together = g.node('Concat', all, { axis: 1 });
  const squeezed = { from: from + layers * inner, to: half, kernel: 1, act };
  const narrow = convolve(together, `${at}.aggregation.0`, squeezed);
  return convolve(narrow, `${at}.aggregation.1`, { from: half, to, kernel: 1, act });
}

/** What the first stage reads, and what each gives: float32 [rows, width, lines, columns]. */
export function hgnetStages(g: GraphWriter, pixels: Value, c: HgnetConfig, base: string): Value[] {
  const convolve = convolver(g, c);
  const found = [stemOf(g, pixels, c, base)];
  c.depths.forEach((_, stage) => {
    const at = `${base}encoder.stages.${stage}`;
    const [from, to] = [c.stage_in_channels[stage]!, c.stage_out_channels[stage]!];
    let x = found.at(-1)!;
    if (c.stage_downsample[stage])
      x = convolve(x, `${at}.downsample`, { from, to: from, kernel: 3, stride: 2, groups: from });
    for (let i = 0; i < c.stage_num_blocks[stage]!; i++) {
      const read = block(g, x, convolve, {
        ...{ at: `${at}.blocks.${i}`, from: i === 0 ? from : to, inner: c.stage_mid_channels[stage]!, to },
        ...{ layers: c.stage_numb_of_layers[stage]!, kernel: c.stage_kernel_size[stage]! },
        isLight: c.stage_light_block[stage]!,
      });
      x = i === 0 ? read : g.node('Add', [read, x]);
    }
    found.push(x);
  });
  return found;
}

/** modeling_hgnet_v2.py */
export const hgnet = defineFamily({
  modelTypes: ['hgnet_v2'],
  memory: { convolutional: true },
  config,
  prefixes: ['hgnetv2.'],
  heads: imageHeads((c: HgnetConfig) =>
    convolutionalModel(
      { ...c, hidden_sizes: c.stage_out_channels },
      (g) => hgnetStages(g, imageInput(g, c.num_channels), c, '').at(-1)!,
      'fc',
    ),
  ),
});
