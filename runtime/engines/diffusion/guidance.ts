import { combine } from './schedulers/combine.js';

export interface Guidance {
  /** How much more than the negative prompt the prompt counts; 1: it alone. */
  scale: number;
  /** Share of the result that gets the spread of the prompt's own (Lin et al., 2023). */
  rescale: number;
}

/** Classifier-free guidance: away from what the negative prompt gives, towards what the prompt gives. */
export function guided(both: Float32Array, { scale, rescale }: Guidance): Float32Array {
  const half = both.length / 2;
  const [negative, positive] = [both.subarray(0, half), both.subarray(half)];
  const result = combine([1 - scale, negative], [scale, positive]);
  if (rescale <= 0) return result;
  const factor = rescale * (deviation(positive) / deviation(result)) + (1 - rescale);
  return result.map((value) => value * factor);
}

/** Standard deviation, as torch's std reckons it. */
function deviation(values: Float32Array): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1));
}

const LONGEST = 10_000;
const PER_UNIT = 1000;

/** The guidance scale as a vector, for networks that were trained to be guided by it (`timestep_cond`). */
export function guidanceEmbedding(scale: number, size: number): Float32Array {
  const half = Math.floor(size / 2);
  const embedding = new Float32Array(size);
  for (let i = 0; i < half; i++) {
    const angle = Math.fround((scale - 1) * PER_UNIT * Math.exp((-i * Math.log(LONGEST)) / (half - 1)));
    embedding[i] = Math.sin(angle);
    embedding[half + i] = Math.cos(angle);
  }
  return embedding;
}
