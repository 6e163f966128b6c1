import type { GraphWriter, Value } from '../writer/graph-writer.js';

/**
 * Gates of which only those stay open that lie beyond a share of all, if they were spread as the normal distribution is: what is above
 * the threshold, float32 [..., width] of the same.
 * @param share of gates that are shut, from 0 to 1
 */
export function sparseGate(g: GraphWriter, x: Value, share: number): Value {
  const mean = (value: Value) => g.node('ReduceMean', [value, g.ints([-1])], { keepdims: 1 });
  const middle = mean(x);
  const distance = g.node('Sub', [x, middle]);
  const deviation = g.node('Sqrt', [mean(g.node('Mul', [distance, distance]))]);
  const threshold = g.node('Add', [middle, g.node('Mul', [deviation, g.scalar(normalQuantile(share))])]);
  return g.node('Relu', [g.node('Sub', [x, threshold])]);
}

/** Beyond it there is nothing that float32 could tell. */
const FARTHEST = 5.5;
const STEPS = 60;

/** The number below which this share of the normal distribution lies. */
export function normalQuantile(share: number): number {
  let [low, high] = [-FARTHEST, FARTHEST];
  for (let i = 0; i < STEPS; i++) {
    const middle = (low + high) / 2;
    if (normalShare(middle) < share) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** The share of the normal distribution below a number, as a series. */
function normalShare(x: number): number {
  let [term, sum] = [x, x];
  for (let n = 1; n < 200; n++) {
    term *= (-x * x) / (2 * n);
    sum += term / (2 * n + 1);
  }
  return 0.5 + sum / Math.sqrt(2 * Math.PI);
}
