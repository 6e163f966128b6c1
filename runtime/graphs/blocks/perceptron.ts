import type { GraphWriter, Value } from '../graph-writer.js';
import { linear } from './linear.js';

export interface PerceptronSize {
  from: number;
  inner: number;
  to: number;
  /** Of layers, with ReLU between them. */
  layers: number;
}

/** Layers `name.layers.0`, …: float32 [..., from] -> [..., to]. */
export function perceptron(
  g: GraphWriter,
  x: Value,
  name: string,
  { from, inner, to, layers }: PerceptronSize,
): Value {
  let found = x;
  for (let i = 0; i < layers; i++) {
    const isLast = i === layers - 1;
    const size = { from: i === 0 ? from : inner, to: isLast ? to : inner };
    const sum = linear(g, found, `${name}.layers.${i}`, size);
    found = isLast ? sum : g.node('Relu', [sum]);
  }
  return found;
}

/** Keeps logarithms of shares finite. */
const LEAST = 1e-5;

/** What a share between 0 and 1 is before the sigmoid. */
export function odds(g: GraphWriter, shares: Value): Value {
  const least = (x: Value) => g.node('Max', [x, g.scalar(LEAST)]);
  return g.node('Log', [g.node('Div', [least(shares), least(g.node('Sub', [g.scalar(1), shares]))])]);
}

export interface DetectorSize {
  width: number;
  /** Queries of each picture. */
  queries: number;
  /** Without the one for "nothing". */
  labels: number;
}

/** Declares `pred_boxes` [rows, queries, 4], and `logits` [rows, queries, labels + 1] as they are given. */
export function boxOutputs(
  g: GraphWriter,
  { states, logits }: { states: Value; logits: Value },
  { width, queries, labels }: DetectorSize,
): void {
  const boxes = perceptron(g, states, 'bbox_predictor', { from: width, inner: width, to: 4, layers: 3 });
  g.output('logits', logits, 'float32', ['rows', queries, labels + 1]);
  g.output('pred_boxes', g.node('Sigmoid', [boxes]), 'float32', ['rows', queries, 4]);
}
