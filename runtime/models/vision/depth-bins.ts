import type { GraphWriter, Value } from '../writer/graph-writer.js';

export interface DepthBins {
  count: number;
  min: number;
  max: number;
  spread: 'linear' | 'log' | 'chmv2_mixlog';
  norm: 'linear' | 'softmax' | 'sigmoid' | 'chmv2_mixlog';
}

/** The largest depth of mixed bins is an eighth of the real one. */
const SCALE = 8;
const [LEAST, SHIFT, EVEN] = [1e-12, 1e-8, 0.1];

/** @param scores float32 [rows, bins, lines, columns] @returns float32 [rows, 1, lines, columns] */
export function binnedDepth(g: GraphWriter, scores: Value, bins: DepthBins): Value {
  const { count, norm } = bins;
  if (count === 1) return g.node('Add', [g.node('Relu', [scores]), g.scalar(bins.min)]);
  const isMixed = norm === 'chmv2_mixlog';
  const depths = depthsOf(bins).map((depth) => (isMixed ? Math.max(LEAST, depth) : depth));
  const shares = sharesOf(g, scores, norm);
  const each = g.node('Mul', [shares, g.floats(depths, [1, count, 1, 1])]);
  const depth = summed(g, each);
  if (!isMixed) return depth;
  return g.node('Mul', [g.node('Max', [depth, g.scalar(LEAST)]), g.scalar(SCALE)]);
}

/** Sums over the bins of each pixel. */
const summed = (g: GraphWriter, x: Value): Value => g.node('ReduceSum', [x, g.ints([1])], { keepdims: 1 });

function sharesOf(g: GraphWriter, scores: Value, norm: DepthBins['norm']): Value {
  if (norm === 'softmax') return g.node('Softmax', [scores], { axis: 1 });
  if (norm === 'sigmoid') {
    const found = g.node('Sigmoid', [scores]);
    return g.node('Div', [found, summed(g, found)]);
  }
  const shift = norm === 'linear' ? EVEN : SHIFT;
  const found = g.node('Add', [g.node('Relu', [scores]), g.scalar(shift)]);
  return g.node('Div', [found, g.node('Max', [summed(g, found), g.scalar(LEAST)])]);
}

/** Of each bin, in the unit of depths, or an eighth of it. */
function depthsOf({ count, min, max, spread }: DepthBins): number[] {
  const evenly = (from: number, to: number): number[] =>
    Array.from({ length: count }, (_, i) => from + ((to - from) * i) / (count - 1));
  if (spread === 'linear') return evenly(min, max);
  const logs = (to: number) => evenly(Math.log(min), Math.log(to)).map(Math.exp);
  if (spread === 'log') return logs(max);
  const [linear, log] = [evenly(min, max / SCALE), logs(max / SCALE)];
  return log.map((depth, i) => {
    const share = 1 - i / (count - 1);
    return share * depth + (1 - share) * linear[i]!;
  });
}
