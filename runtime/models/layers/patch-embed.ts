import { type Attributes, float } from '../writer/attributes.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { convolution } from './convolution.js';

/** Height and width. */
export type Edges = readonly [height: number, width: number];

/**
 * Declares `pixel_values` as the runtime's encoders feed them: float32 [rows, channels, height, width].
 * @param edges for networks that take images of one size only
 */
export function imageInput(g: GraphWriter, channels: number, edges?: Edges): Value {
  return g.input('pixel_values', 'float32', ['rows', channels, ...(edges ?? ['height', 'width'])]);
}

export interface PatchSize {
  channels: number;
  width: number;
  patch: Edges;
  bias?: boolean;
}

export interface Patches {
  /** float32 [rows, patches, width], line by line. */
  tokens: Value;
  /** int64 [2]: patches of a column and of a line. */
  grid: Value;
}

/** Cuts images into patches; what is left at their right and lower edges is not read. */
export function patches(
  g: GraphWriter,
  pixels: Value,
  name: string,
  { channels, width, patch, bias = true }: PatchSize,
): Patches {
  const found = convolution(g, pixels, name, {
    ...{ from: channels, to: width, kernel: patch, stride: patch, bias },
  });
  return { tokens: tokensOf(g, found), grid: gridOf(g, found) };
}

/** int64 [2]: height and width of float32 [rows, channels, height, width]. */
export const gridOf = (g: GraphWriter, x: Value): Value => g.node('Shape', [x], { start: 2, end: 4 });

/** float32 [rows, width, height, width of the image] -> [rows, patches, width] */
export function tokensOf(g: GraphWriter, x: Value): Value {
  const flat = g.node('Reshape', [x, g.ints([0, 0, -1])]);
  return g.node('Transpose', [flat], { perm: [0, 2, 1] });
}

/** float32 [rows, patches, width] -> [rows, width, height, width of the image] @param grid int64 [2] */
export function imageOf(g: GraphWriter, tokens: Value, grid: Value): Value {
  const turned = g.node('Transpose', [tokens], { perm: [0, 2, 1] });
  return g.node('Reshape', [turned, g.node('Concat', [g.ints([0, 0]), grid], { axis: 0 })]);
}

/** Puts learned tokens [1, count, width] before those of every row, in this order. */
export function withTokens(g: GraphWriter, tokens: Value, learned: readonly Value[]): Value {
  const rows = g.node('Shape', [tokens], { start: 0, end: 1 });
  const shape = g.node('Concat', [rows, g.ints([1, 1])], { axis: 0 });
  const before = learned.map((one) => g.node('Expand', [one, shape]));
  return g.node('Concat', [...before, tokens], { axis: 1 });
}

/** float32 [rows, tokens, …] from one token on up to another one. */
export function tokensFrom(g: GraphWriter, x: Value, from: number, to = 2 ** 53): Value {
  return g.node('Slice', [x, g.ints([from]), g.ints([to]), g.ints([1])]);
}

export interface Resized {
  /** Of the table. */
  from: Edges;
  /** int64 [2] */
  to: Value;
  width: number;
  mode: ResizeMode;
}

export type ResizeMode = 'cubic' | 'cubic antialias' | 'linear' | 'nearest';

/** A table of positions [1, lines · columns, width] for another grid, as torch's interpolate has it without corners. */
export function resizedTable(g: GraphWriter, table: Value, { from, to, width, mode }: Resized): Value {
  const grid = imageOf(g, table, g.ints(from));
  const sizes = g.node('Concat', [g.ints([1, width]), to], { axis: 0 });
  return tokensOf(g, resize(g, grid, sizes, { mode }));
}

/**
 * torch's interpolate.
 * @param sizes int64 [4]: the whole shape that comes out
 */
export function resize(
  g: GraphWriter,
  x: Value,
  sizes: Value,
  { mode, corners = false }: { mode: ResizeMode; corners?: boolean },
): Value {
  const coordinates = corners ? 'align_corners' : 'half_pixel';
  const attributes = { mode: mode.split(' ')[0]!, coordinate_transformation_mode: coordinates };
  return g.node('Resize', [x, '', '', sizes], { ...attributes, ...MODES[mode] });
}

/** What torch does beside the mode; its two ways to resize by cubics have two curves. */
const MODES: Record<ResizeMode, Attributes> = {
  cubic: { cubic_coeff_a: float(-0.75) },
  'cubic antialias': { cubic_coeff_a: float(-0.5), antialias: 1, exclude_outside: 1 },
  linear: {},
  nearest: { coordinate_transformation_mode: 'asymmetric', nearest_mode: 'floor' },
};
