import { RunError } from '../../core/errors.js';
import type { ModelReaders } from '../../core/readers.js';
import { firstNumber, type Json } from '../repository/model-folder.js';

interface Convolution {
  kernel: number;
  stride: number;
  /** At both ends. */
  padding: number;
}

/** Moonshine's, which no configuration lists. */
const MOONSHINE: readonly Convolution[] = [
  { kernel: 127, stride: 64, padding: 0 },
  { kernel: 7, stride: 3, padding: 0 },
  { kernel: 3, stride: 2, padding: 0 },
];

/** The same with frames, which it tells: its convolutions leave one step of each two, the odd one included. */
const MOONSHINE_STREAMING: readonly Convolution[] = [
  { kernel: 80, stride: 80, padding: 0 },
  { kernel: 5, stride: 2, padding: 2 },
  { kernel: 5, stride: 2, padding: 2 },
];

export type AudioReader = ModelReaders['audio'];

/** Convolutions that leave fewer steps of what networks over audio clips read, as their configurations list them. */
function convolutionsOf(config: Json, reader: AudioReader): readonly Convolution[] {
  if (reader === 'moonshine') return MOONSHINE;
  if (reader === 'moonshine-streaming') return MOONSHINE_STREAMING;
  if (reader === 'lasr') return lasrConvolutions(config);
  if (reader === 'granite-speech5') return graniteHalvings(config);
  const listed = reader === 'omniasr' ? ((config['audio_config'] ?? {}) as Json) : config;
  const [kernels, strides] = [listed['conv_kernel'], listed['conv_stride']];
  const readers =
    Array.isArray(kernels) && Array.isArray(strides) && reader !== 'wav2vec2-bert'
      ? kernels.map((kernel, i) => ({ kernel: Number(kernel), stride: Number(strides[i]), padding: 0 }))
      : [];
  return [...readers, ...adaptersOf(config, reader)];
}

/** LASR's two, which are alike. */
export function lasrConvolutions(config: Json): readonly Convolution[] {
  const encoder = (config['encoder_config'] ?? {}) as Json;
  const kernel = firstNumber(encoder, 'subsampling_conv_kernel_size') ?? 5;
  const stride = firstNumber(encoder, 'subsampling_conv_stride') ?? 2;
  return [1, 2].map(() => ({ kernel, stride, padding: 0 }));
}

/** Layers of Granite Speech 5 that leave one step of each two. */
function graniteHalvings(config: Json): readonly Convolution[] {
  const encoder = (config['encoder_config'] ?? {}) as Json;
  const layers = firstNumber(encoder, 'num_hidden_layers') ?? 16;
  const listed = (encoder['subsample_layers'] as number[] | null | undefined) ?? [0, 1];
  const halving = [...new Set(listed)].filter((layer) => layer >= 0 && layer < layers);
  return halving.map(() => ({ kernel: 2, stride: 2, padding: 0 }));
}

function adaptersOf(config: Json, reader: AudioReader): Convolution[] {
  if (config['add_adapter'] !== true) return [];
  const stride = firstNumber(config, 'adapter_stride') ?? 2;
  const isOverFrames = reader === 'wav2vec2-bert';
  const count = firstNumber(config, 'num_adapter_layers') ?? (isOverFrames ? 1 : 3);
  const kernel = firstNumber(config, 'adapter_kernel_size') ?? 3;
  return Array.from({ length: count }, () => ({
    ...{ kernel, stride, padding: isOverFrames ? Math.floor(stride / 2) : 1 },
  }));
}

/** What is left of so many samples or frames; 0 or less for fewer than a convolution spans. */
export function stepsLeft(config: Json, reader: AudioReader, length: number): number {
  let left = length;
  for (const { kernel, stride, padding } of convolutionsOf(config, reader)) {
    left = Math.floor((left + 2 * padding - kernel) / stride) + 1;
    if (left < 1) break;
  }
  return left;
}

/** @throws RunError 422 for what is too short, or has more steps than positions, on which Python fails, too */
export function requireSteps(config: Json, reader: AudioReader, length: number): void {
  const left = stepsLeft(config, reader, length);
  if (left < 1)
    throw new RunError(
      'unprocessable',
      'the audio, or a piece of it, is shorter than what this model reads at once: send a longer one',
    );
  const most = reader === 'moonshine-streaming' ? mostSamples(config) : Infinity;
  if (length <= most) return;
  throw new RunError(
    'unprocessable',
    `the audio clip has ${length} samples, and this model has positions for ${most}: send a shorter one, or set params.chunk_length_s`,
  );
}

/** Four frames to a position. */
const mostSamples = (config: Json): number =>
  4 * 80 * (firstNumber(config, 'max_position_embeddings') ?? 4096);
