import { sigmoid } from '../../boxes.js';
import { probabilities } from '../../probabilities.js';

/** A query of the model and the class that it may be, with its score. */
export interface Candidate {
  query: number;
  label: number;
  score: number;
}

/** DETR: one class for each query, in their order. The last class stands for "nothing", and is never taken. */
export function* bestOfQuery(logits: Float32Array, classes: number): Generator<Candidate> {
  for (let query = 0; query < logits.length / classes; query++) {
    const row = logits.subarray(query * classes, (query + 1) * classes);
    let label = 0;
    for (let i = 1; i < classes - 1; i++) if (row[i]! > row[label]!) label = i;
    yield { query, label, score: probabilities(row)[label]! };
  }
}

/** The best pairs of query and class, best first: a query may have several classes. */
export function bestOfAll(logits: Float32Array, classes: number, count: number): Candidate[] {
  const all = Array.from(logits, (logit, i) => ({
    query: Math.floor(i / classes),
    label: i % classes,
    score: sigmoid(logit),
  }));
  return all.sort((a, b) => b.score - a.score).slice(0, count);
}
