import { sizesOf } from './network-sizes.js';
import { runBytes } from './run-memory.js';

const FLOAT = 4;
/** Inputs and outputs of a convolution, and what its activation makes of them. */
const TENSORS = 3;
/** Scores of all distances are in memory, too (measured: Parakeet's sizes, 160 to 450 seconds, within 7 %). */
const BY_DISTANCE = 1.75;

/**
 * Bytes of the run of a network over sounds of any length: what makes steps of them, and a transformer over the steps. Of networks
 * over spectrograms whose length is fixed nothing is known: 0.
 * Used by `builder plan` and by the server's admission.
 * @param config config.json
 */
export function soundRunBytes(config: Readonly<Record<string, unknown>>, samples: number): number {
  const { strides, widths, tensors = TENSORS } = stepsOf(config);
  if (strides.length === 0 || widths.length === 0) return 0;
  let [steps, convolutions] = [samples, 0];
  for (const [i, stride] of strides.entries()) {
    steps /= stride;
    convolutions = Math.max(convolutions, steps * (widths[i] ?? widths.at(-1)!) * FLOAT * tensors);
  }
  const tokens = Math.ceil(steps);
  const sizes = sizesOf(encoderOf(config));
  const heads = sizes.heads * (config['model_type'] === 'parakeet_ctc' ? BY_DISTANCE : 1);
  return Math.max(convolutions, runBytes({ ...sizes, heads }, { tokens, attended: tokens }));
}

/** Samples that become a step, stage by stage, and numbers in it. */
interface Steps {
  strides: readonly number[];
  widths: readonly number[];
  tensors?: number;
}

function stepsOf(config: Readonly<Record<string, unknown>>): Steps {
  const { hidden } = sizesOf(config);
  if (config['model_type'] === 'parakeet_ctc') return parakeetSteps(encoderOf(config));
  // Two frames of a spectrogram, a hundred of which are a second of 16,000 samples.
  if (config['model_type'] === 'wav2vec2-bert') return { strides: [320], widths: [hidden] };
  return { strides: numbers(config['conv_stride']), widths: numbers(config['conv_dim']) };
}

/** The configuration of a network that another one holds as its encoder, or that one itself. */
function encoderOf(config: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { encoder_config: own } = config;
  return typeof own === 'object' && own !== null ? (own as Record<string, unknown>) : config;
}

/** Samples of a frame. */
const HOP = 160;

/** Channels of pictures of filters and frames, which convolutions halve on both axes. */
function parakeetSteps(encoder: Readonly<Record<string, unknown>>): Steps {
  const positive = (name: string, usual: number) =>
    typeof encoder[name] === 'number' && encoder[name] > 0 ? encoder[name] : usual;
  const [stride, factor] = [positive('subsampling_conv_stride', 2), positive('subsampling_factor', 8)];
  const wide = positive('subsampling_conv_channels', 256) * positive('num_mel_bins', 80);
  const stages = Array.from({ length: Math.min(10, Math.trunc(Math.log2(factor))) }, (_, i) => i + 1);
  return {
    strides: [HOP * stride, ...stages.slice(1).map(() => stride)],
    widths: stages.map((stage) => wide / stride ** stage),
    tensors: 2,
  };
}

const numbers = (value: unknown): number[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'number' && item > 0)
    ? (value as number[])
    : [];
