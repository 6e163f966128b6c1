import { batchNorm, convolution2d, type SquareSize } from './convolution.js';
import { gridOf, resize } from './patch-embed.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

/** What DPT and its relatives make of the states of several layers: images of several sizes, joined from coarse to fine. */
export interface Neck {
  /** Of the states. */
  width: number;
  /** Channels that each layer's states are projected to, and how much larger their images become. */
  sizes: readonly number[];
  factors: readonly number[];
  /** Channels of what is joined. */
  fused: number;
  norm: boolean;
  bias: boolean;
  /** True where an image grows to the next one's size, and not to twice its own. */
  toNext: boolean;
  names?: NeckNames;
}

/** What stands before the numbers of layers in a checkpoint. */
export interface NeckNames {
  reassembled: string;
  convs: string;
  fusion: string;
}

const NAMES: NeckNames = {
  reassembled: 'neck.reassemble_stage.layers',
  convs: 'neck.convs',
  fusion: 'neck.fusion_stage.layers',
};

/** @param states images of layers, float32 [rows, width, lines, columns] @returns what each step of joining gives */
export function neckImages(g: GraphWriter, states: readonly Value[], neck: Neck): Value[] {
  const { convs, fusion } = neck.names ?? NAMES;
  const features = states.map((x, i) => {
    const size = { from: neck.sizes[i]!, to: neck.fused, kernel: 3, bias: false };
    return convolution2d(g, reassembled(g, x, i, neck), `${convs}.${i}`, size);
  });
  const coarseFirst = features.toReversed();
  const found: Value[] = [];
  coarseFirst.forEach((x, i) => {
    const at = (name: string) => `${fusion}.${i}.${name}`;
    const former = found.at(-1);
    const sum = former ? joined(g, former, x, { at, neck }) : x;
    const read = residual(g, sum, at('residual_layer2'), neck);
    const next = neck.toNext ? coarseFirst[i + 1] : undefined;
    const larger = enlarged(g, read, next ? gridOf(g, next) : twice(g, read), neck.fused);
    found.push(convolution2d(g, larger, at('projection'), { from: neck.fused, to: neck.fused, kernel: 1 }));
  });
  return found;
}

interface JoinOf {
  at: (name: string) => string;
  neck: Neck;
}

/** An image with the next finer one, which is brought to its size where that may differ. */
function joined(g: GraphWriter, coarse: Value, fine: Value, { at, neck }: JoinOf): Value {
  const fits = neck.toNext
    ? fine
    : resize(g, fine, shapeOf(g, fine, gridOf(g, coarse), neck.fused), { mode: 'linear' });
  return g.node('Add', [coarse, residual(g, fits, at('residual_layer1'), neck)]);
}

function reassembled(g: GraphWriter, x: Value, layer: number, neck: Neck): Value {
  const { width, sizes, factors, names = NAMES } = neck;
  const at = `${names.reassembled}.${layer}`;
  const [to, factor] = [sizes[layer]!, factors[layer]!];
  const projected = convolution2d(g, x, `${at}.projection`, { from: width, to, kernel: 1 });
  if (factor === 1) return projected;
  if (factor < 1) {
    const smaller: SquareSize = { from: to, to, kernel: 3, stride: Math.trunc(1 / factor) };
    return convolution2d(g, projected, `${at}.resize`, smaller);
  }
  const edges = [factor, factor];
  const weight = g.weight(`${at}.resize.weight`, [to, to, ...edges]);
  const inputs = [projected, weight, g.weight(`${at}.resize.bias`, [to])];
  return g.node('ConvTranspose', inputs, { kernel_shape: edges, strides: edges });
}

/** x and two convolutions of it. */
function residual(g: GraphWriter, x: Value, name: string, { fused, norm, bias }: Neck): Value {
  const size = { from: fused, to: fused, kernel: 3, bias };
  const found = [1, 2].reduce((read, i) => {
    const one = convolution2d(g, g.node('Relu', [read]), `${name}.convolution${i}`, size);
    return norm ? batchNorm(g, one, `${name}.batch_norm${i}`, { width: fused }) : one;
  }, x);
  return g.node('Add', [found, x]);
}

/** int64 [2]: the grid twice as large. */
export const twice = (g: GraphWriter, x: Value): Value => g.node('Mul', [gridOf(g, x), g.ints([2], [])]);

/** The same image of another grid, whose corners stay in place. */
export function enlarged(g: GraphWriter, x: Value, grid: Value, width: number): Value {
  return resize(g, x, shapeOf(g, x, grid, width), { mode: 'linear', corners: true });
}

function shapeOf(g: GraphWriter, x: Value, grid: Value, width: number): Value {
  const rows = g.node('Shape', [x], { start: 0, end: 1 });
  return g.node('Concat', [rows, g.ints([width]), grid], { axis: 0 });
}
