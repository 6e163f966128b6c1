import type { Pooling } from '../../../../core/handles/index.js';

/** Hidden states of one row: `values` is [tokens x width], row after row. */
export interface HiddenStates {
  values: Float32Array;
  tokens: number;
  width: number;
  /** Index of the first token that counts (a prompt that pooling leaves out is before it). */
  from: number;
}

type Pool = (states: HiddenStates) => Float32Array;

const weightedSum = (states: HiddenStates, weight: (token: number) => number): Float32Array => {
  const { values, tokens, width, from } = states;
  const sum = new Float64Array(width);
  let total = 0;
  for (let token = from; token < tokens; token++) {
    const w = weight(token);
    const start = token * width;
    total += w;
    for (let i = 0; i < width; i++) sum[i]! += values[start + i]! * w;
  }
  const result = new Float32Array(width);
  // Not Float32Array.from(sum, …): that asks an iterator for each value.
  for (let i = 0; i < width; i++) result[i] = sum[i]! / Math.max(total, 1e-9);
  return result;
};

const row = ({ values, width }: HiddenStates, token: number): Float32Array =>
  values.slice(token * width, (token + 1) * width);

const mean: Pool = (states) => weightedSum(states, () => 1);

/** The pooling kinds of sentence-transformers (models/Pooling.py), by our names. */
export const POOL: Record<Pooling, Pool> = {
  mean,
  // A prompt that fills the whole input leaves nothing to pool; the first token stands in, as in Python.
  cls: (states) => row(states, states.from < states.tokens ? states.from : 0),
  lasttoken: (states) => row(states, states.tokens - 1),
  weightedmean: (states) => weightedSum(states, (token) => token + 1),
  mean_sqrt_len_tokens: (states) =>
    mean(states).map((value) => value * Math.sqrt(states.tokens - states.from)),
  max: (states) => {
    const best = row(states, states.from);
    for (let token = states.from + 1; token < states.tokens; token++) {
      for (let i = 0; i < states.width; i++) {
        best[i] = Math.max(best[i]!, states.values[token * states.width + i]!);
      }
    }
    return best;
  },
};

/** Several poolings side by side, as sentence-transformers concatenates them. */
export function applyPoolings(states: HiddenStates, kinds: readonly Pooling[]): Float32Array {
  const parts = kinds.map((kind) => POOL[kind](states));
  const all = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    all.set(part, offset);
    offset += part.length;
  }
  return all;
}

/** Scales to length 1; a zero vector stays as it is. */
export function normalizeVector(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.max(Math.sqrt(squares), 1e-12);
  return vector.map((value) => value / length);
}
