import { sizesOf } from './network-sizes.js';
import { runBytes } from './run-memory.js';

const FLOAT = 4;
/** Inputs and outputs of a convolution, and what its activation makes of them. */
const TENSORS = 3;

/**
 * Bytes of the run of a network over raw samples: convolutions that make steps of them (wav2vec 2.0), and a transformer
 * over the steps. Of networks over spectrograms, whose length is fixed, nothing is known: 0.
 * Used by `builder plan` and by the server's admission.
 * @param config config.json
 */
export function soundRunBytes(config: Readonly<Record<string, unknown>>, samples: number): number {
  const strides = numbers(config['conv_stride']);
  const widths = numbers(config['conv_dim']);
  if (strides.length === 0 || widths.length === 0) return 0;
  let [steps, convolutions] = [samples, 0];
  for (const [i, stride] of strides.entries()) {
    steps /= stride;
    convolutions = Math.max(convolutions, steps * (widths[i] ?? widths.at(-1)!) * FLOAT * TENSORS);
  }
  const tokens = Math.ceil(steps);
  return Math.max(convolutions, runBytes(sizesOf(config), { tokens, attended: tokens }));
}

const numbers = (value: unknown): number[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'number' && item > 0)
    ? (value as number[])
    : [];
