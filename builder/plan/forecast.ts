import { audioRunBytes } from '../../runtime/core/media-run-memory.js';
import { availableParallelism } from 'node:os';
import { type Dtype, totalBytes } from '../../runtime/core/spec.js';
import { type MemoryForecast, predictMemory } from './memory.js';
import { predictGgufMemory } from './gguf/gguf-memory.js';
import type { ModelPlan } from './plan.js';
import { type MemoryInput, sessionKind, weightBytes } from './session-kind.js';

/** Predicted resources on a CPU, for one weight format. */
export interface FormatForecast {
  dtype: Dtype;
  /** Bytes of all files that are needed. */
  bytes: number;
  memory: MemoryForecast;
  /** Seconds from the start of a server with verified weights to the first answer. */
  loadSeconds: number;
}

/** Most session threads that the server opens by default. */
export const MAX_WORKERS = 8;

export function defaultWorkers(cores: number = availableParallelism()): number {
  return Math.min(Math.max(1, cores), MAX_WORKERS);
}

/** Half a minute, of the usual 16,000 samples a second. */
const AUDIO_SAMPLES = 30 * 16_000;

/** The chosen format first, then all others. Pure. */
export function forecastFormats(
  { formats, facts }: Pick<ModelPlan, 'formats' | 'facts'>,
  workers: number,
): FormatForecast[] {
  return formats.map((spec) => {
    const { network, image, noise, gguf } = facts;
    if (gguf)
      return {
        ...{ dtype: spec.dtype, bytes: totalBytes(spec), memory: predictGgufMemory(gguf, spec.task) },
        loadSeconds: mappedSeconds(totalBytes(spec)),
      };
    const audio = audioRunBytes(network.audio, AUDIO_SAMPLES);
    const input = { spec, sizes: network.sizes, image, audio, noise, workers };
    return {
      dtype: spec.dtype,
      bytes: totalBytes(spec),
      memory: predictMemory(input),
      loadSeconds: predictLoadSeconds(input),
    };
  });
}

/** Machine of the rates below. */
export const LOAD_MACHINE = '2 virtual x86-64 cores with AVX-512, weights in the page cache';

const START_SECONDS = 0.8;
/** Bytes per second from file to ready sessions. */
const LOAD_RATES = {
  pool: 60e6,
  single: 90e6,
  decoder: 190e6,
  'encoder-decoder': 80e6,
  'media-chat': 100e6,
} as const;
/** Slower, because a decoder with integer weights is tested row by row and its matrices are packed one by one. */
const INTEGER_DECODER_RATE = 60e6;
/** Vocabulary entries per second. */
const ENTRY_RATE = 40e3;
/** Experts of a graph of ours per second: each is a handful of nodes, which are opened one by one. */
const EXPERT_RATE = 1000;

/** Files that are mapped are read once, for the first answer. */
const MAPPED_RATE = 500e6;
const mappedSeconds = (bytes: number): number => Math.round(10 * (START_SECONDS + bytes / MAPPED_RATE)) / 10;

/** Seconds until ready on LOAD_MACHINE. Other machines differ by a factor; the order of models stays the same. */
export function predictLoadSeconds(input: MemoryInput): number {
  const kind = sessionKind(input);
  const integers = kind === 'decoder' && !input.spec.dtype.startsWith('fp');
  const rate = integers ? INTEGER_DECODER_RATE : LOAD_RATES[kind];
  const { vocabulary, layers, experts = 0 } = input.sizes;
  const nodes = (layers * experts) / EXPERT_RATE;
  const seconds = START_SECONDS + weightBytes(input.spec) / rate + vocabulary / ENTRY_RATE + nodes;
  return Math.round(seconds * 10) / 10;
}
