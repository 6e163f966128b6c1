import { sizesOf } from './network-sizes.js';
import { runBytes } from './run-memory.js';

const FLOAT = 4;
/** Inputs and outputs of a convolution, and what its activation makes of them. */
const TENSORS = 3;

/**
 * Bytes of the run of a network over sounds of any length: what makes steps of them, and a transformer over the steps. Of networks
 * over spectrograms whose length is fixed nothing is known: 0.
 * Used by `builder plan` and by the server's admission.
 * @param config config.json
 */
export function soundRunBytes(config: Readonly<Record<string, unknown>>, samples: number): number {
  const { strides, widths } = stepsOf(config);
  if (strides.length === 0 || widths.length === 0) return 0;
  let [steps, convolutions] = [samples, 0];
  for (const [i, stride] of strides.entries()) {
    steps /= stride;
    convolutions = Math.max(convolutions, steps * (widths[i] ?? widths.at(-1)!) * FLOAT * TENSORS);
  }
  const tokens = Math.ceil(steps);
  return Math.max(convolutions, runBytes(sizesOf(config), { tokens, attended: tokens }));
}

/** Samples that become a step, stage by stage, and numbers in it. */
interface Steps {
  strides: readonly number[];
  widths: readonly number[];
}

function stepsOf(config: Readonly<Record<string, unknown>>): Steps {
  const { hidden } = sizesOf(config);
  // Two frames of a spectrogram, a hundred of which are a second of 16,000 samples.
  if (config['model_type'] === 'wav2vec2-bert') return { strides: [320], widths: [hidden] };
  return { strides: numbers(config['conv_stride']), widths: numbers(config['conv_dim']) };
}

const numbers = (value: unknown): number[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'number' && item > 0)
    ? (value as number[])
    : [];
