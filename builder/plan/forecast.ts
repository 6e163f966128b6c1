import { availableParallelism } from 'node:os';
import { type Dtype, totalBytes } from '../../runtime/core/spec.js';
import { type MemoryForecast, predictMemory } from './memory.js';
import type { ModelPlan } from './plan.js';
import { type MemoryInput, sessionKind, weightBytes } from './session-kind.js';

/** What a model will cost on a CPU, in one weight format. */
export interface FormatForecast {
  dtype: Dtype;
  /** Bytes of all files that are needed. */
  bytes: number;
  memory: MemoryForecast;
  /** Seconds from the start of a server with verified weights to the first answer. */
  loadSeconds: number;
}

/** Most session threads that the server opens by itself. */
export const MOST_WORKERS = 8;

export function defaultWorkers(cores: number = availableParallelism()): number {
  return Math.min(Math.max(1, cores), MOST_WORKERS);
}

/** The chosen format first, then every other that is there. Pure. */
export function forecastFormats(
  { formats, facts }: Pick<ModelPlan, 'formats' | 'facts'>,
  workers: number,
): FormatForecast[] {
  return formats.map((spec) => {
    const input = { spec, sizes: facts.sizes, workers };
    return {
      dtype: spec.dtype,
      bytes: totalBytes(spec),
      memory: predictMemory(input),
      loadSeconds: predictLoadSeconds(input),
    };
  });
}

/** The machine that the rates below were measured on. */
export const LOAD_MACHINE = '2 virtual x86-64 cores with AVX-512, weights in the page cache';

const START_SECONDS = 0.8;
/** Bytes a second, from the file to sessions that are ready. */
const LOAD_RATES = { pool: 60e6, single: 90e6, decoder: 190e6, 'encoder-decoder': 80e6 } as const;
/** A decoder of integer weights is tried row by row, and its matrices are packed one by one. */
const INTEGER_DECODER_RATE = 60e6;
/** Entries of a vocabulary a second. */
const ENTRY_RATE = 40e3;

/** Seconds until ready on LOAD_MACHINE. Others differ by a factor; which model takes longer stays the same. */
export function predictLoadSeconds(input: MemoryInput): number {
  const kind = sessionKind(input);
  const integers = kind === 'decoder' && !input.spec.dtype.startsWith('fp');
  const rate = integers ? INTEGER_DECODER_RATE : LOAD_RATES[kind];
  const seconds = START_SECONDS + weightBytes(input.spec) / rate + input.sizes.vocabulary / ENTRY_RATE;
  return Math.round(seconds * 10) / 10;
}
