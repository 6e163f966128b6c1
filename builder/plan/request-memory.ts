import { defaultBodyBytes, DEFAULTS } from '../../runtime/core/limits.js';
import type { Profile } from '../../runtime/core/spec.js';
import type { NetworkSizes } from '../../runtime/core/network-sizes.js';
import { CACHE_COPIES, promptBytes, runBytes } from '../../runtime/core/run-memory.js';
import type { MemoryInput, SessionKind } from './session-kind.js';

/**
 * Memory that the longest requests take beside a loaded model. Servers find out for themselves how much room their limit
 * leaves and refuse what would not fit (runtime/engines/sessions/available-memory.ts): with what is reckoned here they refuse nothing
 * that the model and the default limits allow, but for texts beyond these lengths.
 */
const PROMPT_TOKENS = 2048;
const TEXT_TOKENS = 1024;
/** Where a configuration names no longest text. */
const UNKNOWN_TOKENS = 512;
/** Tokens of a run of several short texts, on every session. */
const BATCH_TOKENS = 128;
const PROMPT_CHUNK = 256;

/** As runtime/media/decoding-memory.ts has it for a JPEG of rows in their order: one of all pixels, or a turned one of half. */
const PIXEL_BYTES = 3.6;
const STRIP_BYTES = 16 * 2 ** 20;

/** Patches of a usual network for 224 pixels, where the configuration tells none. */
const PICTURE_TOKENS = 197;
/** Of convolutions the configuration says too little. */
const LEAST_RUN_BYTES = 16 * 2 ** 20;

/** Bytes of a run of one picture. */
export function pictureRunBytes(sizes: NetworkSizes): number {
  const tokens = sizes.patches || PICTURE_TOKENS;
  return runBytes(sizes, { tokens, attended: tokens });
}

/** Bytes of runs, caches and pictures. */
export function requestBytes(kind: SessionKind, { spec, sizes, workers }: MemoryInput): number {
  if (spec.profile !== 'text') {
    const run = Math.max(pictureRunBytes(sizes), LEAST_RUN_BYTES);
    const sessions = kind === 'pool' ? workers + 1 : 1;
    // Runs of several small pictures may keep an eighth of the room (runtime/engines/encoders/tensor-encoder.ts).
    const pixels = (Math.round(PIXEL_BYTES * DEFAULTS.maxPixels) + STRIP_BYTES) * (8 / 7);
    return Math.round(pixels + sessions * run);
  }
  const integers = /^(?:q8|u?int8)$/.test(spec.dtype);
  const length = (most: number) => Math.min(most, sizes.positions || UNKNOWN_TOKENS);
  const float = spec.dtype.endsWith('f16') || spec.dtype === 'fp16' ? 2 : 4;
  const perToken = 2 * sizes.layers * sizes.keys * float;
  if (kind === 'decoder') {
    const tokens = length(PROMPT_TOKENS);
    const shape = { sizes, perToken, chunk: integers ? Infinity : PROMPT_CHUNK, integers };
    return promptBytes(shape, tokens) + CACHE_COPIES * perToken * tokens;
  }
  const tokens = length(TEXT_TOKENS);
  if (kind === 'encoder-decoder') {
    // Keys and values of the text beside those of the answer.
    const shape = { sizes, perToken: 2 * perToken, chunk: Infinity, integers };
    return promptBytes(shape, tokens) + 2 * CACHE_COPIES * perToken * tokens;
  }
  const row = runBytes(sizes, { tokens, attended: tokens }, integers);
  const batch = runBytes(sizes, { tokens: BATCH_TOKENS, attended: BATCH_TOKENS }, integers);
  return kind === 'single' ? row : 2 * Math.max(row, workers * batch);
}

/** What V8 may come to hold (available-memory.ts), and what processes differ by between versions of Node.js and kernels. */
const HEAP_BYTES = 32 * 2 ** 20;
const SPREAD_BYTES = 40 * 2 ** 20;
/** Bodies under way, as runtime/worker/memory-limit.ts sets them aside. */
const BODY_COPIES = 3;
const BODY_SHARE = 1 / 32;

/** The limit of a container that leaves so much to requests. */
export function limitFor(loadedBytes: number, requests: number, profile: Profile): number {
  const needed = loadedBytes + requests + HEAP_BYTES + SPREAD_BYTES;
  const body = defaultBodyBytes(profile);
  const most = needed + BODY_COPIES * DEFAULTS.maxPendingBytes;
  const shared = needed / (1 - BODY_COPIES * BODY_SHARE);
  return Math.round(Math.min(most, Math.max(needed + BODY_COPIES * body, shared)));
}
