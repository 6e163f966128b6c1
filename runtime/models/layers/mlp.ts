import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { linear } from './linear.js';

export interface PerceptronSize {
  from: number;
  inner: number;
  to: number;
  /** Of layers, with ReLU between them. */
  layers: number;
  /** Name of a layer behind that of the whole; `.layers.0`, … if absent. */
  nameOf?(layer: number): string;
}

/** Layers one behind the other: float32 [..., from] -> [..., to]. */
export function mlp(
  g: GraphWriter,
  x: Value,
  name: string,
  { from, inner, to, layers, nameOf = (i) => `.layers.${i}` }: PerceptronSize,
): Value {
  let found = x;
  for (let i = 0; i < layers; i++) {
    const isLast = i === layers - 1;
    const size = { from: i === 0 ? from : inner, to: isLast ? to : inner };
    const sum = linear(g, found, `${name}${nameOf(i)}`, size);
    found = isLast ? sum : g.node('Relu', [sum]);
  }
  return found;
}

/** Keeps logarithms of shares finite. */
const LEAST = 1e-5;

/**
 * The sigmoid as torch computes it. ONNX Runtime's own is as exact for shares in the middle only; those at either end are not what they
 * were, once `odds` has been taken of them.
 */
export function share(g: GraphWriter, x: Value): Value {
  const against = g.node('Exp', [g.node('Neg', [x])]);
  return g.node('Reciprocal', [g.node('Add', [against, g.scalar(1)])]);
}

/** What a share between 0 and 1 is before the sigmoid. */
export function odds(g: GraphWriter, shares: Value): Value {
  const least = (x: Value) => g.node('Max', [x, g.scalar(LEAST)]);
  return g.node('Log', [g.node('Div', [least(shares), least(g.node('Sub', [g.scalar(1), shares]))])]);
}

/** The same of shares that are cut off at both ends, as torch's logit has it. */
export function logit(g: GraphWriter, shares: Value): Value {
  const within = g.node('Clip', [shares, g.scalar(LEAST), g.scalar(1 - LEAST)]);
  return g.node('Log', [g.node('Div', [within, g.node('Sub', [g.scalar(1), within])])]);
}

export interface DetectorSize {
  width: number;
  /** Queries of each image. */
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
  const boxes = mlp(g, states, 'bbox_predictor', { from: width, inner: width, to: 4, layers: 3 });
  g.output('logits', logits, 'float32', ['rows', queries, labels + 1]);
  g.output('pred_boxes', g.node('Sigmoid', [boxes]), 'float32', ['rows', queries, 4]);
}
