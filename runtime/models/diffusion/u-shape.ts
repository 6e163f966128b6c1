import { convolution2d } from '../layers/convolution.js';
import { gridOf, resize } from '../layers/patch-embed.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

/** One layer of a level: a residual block and what comes behind it. */
export interface LayerOf {
  /** Name of one of its parts: `resnets` is `down_blocks.0.resnets.1`. */
  at(part: string): string;
  from: number;
  to: number;
  /** Of the level on its way; up it is the last one that is 0. */
  level: number;
  way: 'down' | 'up';
}

/** A network that halves images level by level, and doubles them again beside what it has read on the way down. */
export interface UShape {
  /** Channels of each level. */
  widths: readonly number[];
  /** Layers of each level on the way down; up it has one more. */
  layers: readonly number[];
  /** Zeros around an image that is halved; 0: behind its ends only. */
  padding: number;
  layer(g: GraphWriter, x: Value, of: LayerOf): Value;
  middle(g: GraphWriter, x: Value): Value;
}

/** @param x float32 [rows, widths[0], height, width] @returns the same shape */
export function writeUShape(g: GraphWriter, x: Value, shape: UShape): Value {
  const skipped = [{ value: x, width: shape.widths[0]! }];
  const middle = shape.middle(g, wayDown(g, x, shape, skipped));
  return wayUp(g, middle, shape, skipped);
}

interface Skipped {
  value: Value;
  width: number;
}

function wayDown(g: GraphWriter, start: Value, shape: UShape, skipped: Skipped[]): Value {
  let x = start;
  let from = shape.widths[0]!;
  const keep = (value: Value, width: number): Value => {
    skipped.push({ value, width });
    return value;
  };
  shape.widths.forEach((to, level) => {
    for (let i = 0; i < shape.layers[level]!; i++) {
      const at = (part: string) => `down_blocks.${level}.${part}.${i}`;
      x = keep(shape.layer(g, x, { at, from, to, level, way: 'down' }), to);
      from = to;
    }
    if (level === shape.widths.length - 1) return;
    x = keep(halved(g, x, `down_blocks.${level}.downsamplers.0.conv`, { width: to, ...shape }), to);
  });
  return x;
}

function wayUp(g: GraphWriter, start: Value, shape: UShape, skipped: Skipped[]): Value {
  let x = start;
  const last = shape.widths.length - 1;
  let width = shape.widths[last]!;
  for (let level = 0; level <= last; level++) {
    const to = shape.widths[last - level]!;
    for (let i = 0; i <= shape.layers[last - level]!; i++) {
      const beside = skipped.pop()!;
      const at = (part: string) => `up_blocks.${level}.${part}.${i}`;
      const both = g.node('Concat', [x, beside.value], { axis: 1 });
      x = shape.layer(g, both, { at, from: width + beside.width, to, level, way: 'up' });
      width = to;
    }
    if (level === last) break;
    const grid = gridOf(g, skipped.at(-1)!.value);
    x = grown(g, x, `up_blocks.${level}.upsamplers.0.conv`, { width, grid });
  }
  return x;
}

function halved(
  g: GraphWriter,
  x: Value,
  name: string,
  { width, padding }: { width: number; padding: number },
): Value {
  const padded = padding === 0 ? g.node('Pad', [x, g.ints([0, 0, 0, 0, 0, 0, 1, 1])]) : x;
  return convolution2d(g, padded, name, { from: width, to: width, kernel: 3, stride: 2, padding });
}

/** The nearest positions of an image, for another grid (int64 [2]), and a convolution. */
export function grown(
  g: GraphWriter,
  x: Value,
  name: string,
  { width, grid }: { width: number; grid: Value },
): Value {
  const rows = g.node('Shape', [x], { start: 0, end: 1 });
  const sizes = g.node('Concat', [rows, g.ints([width]), grid], { axis: 0 });
  const larger = resize(g, x, sizes, { mode: 'nearest' });
  return convolution2d(g, larger, name, { from: width, to: width, kernel: 3 });
}
