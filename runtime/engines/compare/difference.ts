import type { Tensors } from '../sessions/tensors.js';

/** What one probe fed, and what torch gave. */
export interface Probe {
  inputs: Tensors;
  outputs: Tensors;
  /** [rows, length] 1 for what is there, 0 for padding, whose outputs mean nothing. */
  real: { data: ArrayLike<bigint>; dims: readonly number[] };
}

/** Largest difference of an output, in parts of its largest number; a text says what can't be compared. */
export type Difference = number | string;

/** @param name of the output @param given what the graph gave for the probe */
export function differenceOf({ outputs, real }: Probe, name: string, given: Tensors): Difference {
  const [wanted, found] = [outputs[name]!, given[name]];
  if (!found) return `${name} is missing`;
  if (found.dims.join() !== wanted.dims.join())
    return `${name} is [${found.dims.join(', ')}], not [${wanted.dims.join(', ')}]`;
  const counts = placesOf(name, wanted.dims, real);
  const [a, b] = [wanted.data, found.data] as ArrayLike<number | bigint>[];
  let [largest, worst] = [0, 0];
  for (let i = 0; i < a!.length; i++) {
    if (!counts(i)) continue;
    const [right, got] = [Number(a![i]), Number(b![i])];
    if (isEndless(right) || isEndless(got)) {
      if (!isEndless(right) || !isEndless(got) || !Object.is(Math.sign(right), Math.sign(got)))
        return `${name} is ${got} where torch gives ${right}`;
      continue;
    }
    largest = Math.max(largest, Math.abs(right));
    worst = Math.max(worst, Math.abs(right - got));
  }
  return worst === 0 ? 0 : worst / largest;
}

/** What no number is compared by: infinite, or the smallest number of a type, which networks give to what must not be chosen. */
const isEndless = (value: number): boolean => !(Math.abs(value) < 1e30);

/** True for numbers that belong to no padding: outputs with a value, or a vector, for each token. */
function placesOf(name: string, dims: readonly number[], real: Probe['real']): (at: number) => boolean {
  const [rows, length] = real.dims;
  const perToken =
    dims[0] === rows && dims[1] === length && (dims.length > 2 || /^(?:start|end)_logits$/.test(name));
  if (!perToken) return () => true;
  const width = dims.slice(2).reduce((a, b) => a * b, 1);
  return (at) => real.data[Math.floor(at / width)] === 1n;
}

/** The largest of several; the first text comes before all numbers. */
export function worstOf(differences: readonly Difference[]): Difference {
  const text = differences.find((one) => typeof one === 'string');
  return text ?? Math.max(0, ...(differences as number[]));
}
