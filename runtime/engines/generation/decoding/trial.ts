import { firstNumber, type Json, textConfig } from '../../repository/model-folder.js';

/** Differences that another order of summation makes. Graphs that mix rows or misplace tokens differ far more. */
const TOLERANCE = { float32: 2e-4, float16: 1e-2 };

/** Token sequences for trials of what a graph allows, by length and first token. */
export function trialTokens(config: Json): (length: number, first: number) => number[] {
  const vocabulary = firstNumber(textConfig(config), 'vocab_size') ?? 100;
  return (length, first) => Array.from({ length }, (_, i) => (first + 37 * i) % vocabulary);
}

/** True where scores differ no more than another order of summation makes them. */
export function nearlyEqual(one: Float32Array, other: Float32Array, type: keyof typeof TOLERANCE): boolean {
  const largest = one.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const tolerance = TOLERANCE[type] * largest;
  return one.length === other.length && one.every((value, i) => Math.abs(value - other[i]!) <= tolerance);
}
