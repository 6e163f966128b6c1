import { engineOf } from '../../runtime/core/engines.js';
import { defaultBodyBytes, DEFAULTS } from '../../runtime/core/limits.js';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { taskOf } from '../../runtime/tasks/registry.js';
import type { Profile } from '../../runtime/core/spec.js';
import { grammarBytes } from '../../runtime/core/grammar-memory.js';
import { CACHE_COPIES, mediaRunBytes, promptBytes, runBytes } from '../../runtime/core/run-memory.js';
import { bytesForGraph } from '../../runtime/core/media-run-memory.js';
import { type MemoryInput, type SessionKind, weightBytes } from './session-kind.js';

/**
 * Memory of the longest requests beside a loaded model. Servers refuse requests that don't fit into their limit
 * (runtime/engines/sessions/available-memory.ts); with this much they refuse nothing that the model and the default limits
 * allow, except for texts beyond these lengths.
 */
const PROMPT_TOKENS = 2048;
const TEXT_TOKENS = 1024;
/** Assumed if the configuration has no maximum length. */
const UNKNOWN_TOKENS = 512;
/** Tokens of a run of several short texts, on every session. */
const BATCH_TOKENS = 128;
const PROMPT_CHUNK = 256;

/** Bytes per pixel to decode a baseline JPEG, as in runtime/media/decoding-memory.ts. */
const PIXEL_BYTES = 3.6;
const STRIP_BYTES = 16 * 2 ** 20;

/** Minimum, since configurations say too little about small networks. */
const LEAST_RUN_BYTES = 16 * 2 ** 20;

/** Patches of an image of 640 x 640 pixels; assumed where images keep their size. */
const VISION_PATCHES = 2048;

/** Bytes of one run of the encoder of media of a model of chats. */
export function visionRunBytes({
  spec: { written },
  sizes: { vision, audio },
}: Pick<MemoryInput, 'spec' | 'sizes'>): number {
  const encoder = vision ?? audio;
  if (!encoder) return LEAST_RUN_BYTES;
  const tokens = encoder.patches || VISION_PATCHES;
  return Math.max(LEAST_RUN_BYTES, mediaRunBytes(encoder, tokens, Boolean(written)));
}

/** States of thirty seconds, fifty a second: Whisper's window, and as much as other networks hear at once by this reckoning. */
const AUDIO_STATES = 1500;
/** Samples and spectrogram of five minutes, in pieces and whole. */
const AUDIO_BYTES = 80 * 2 ** 20;

/** Bytes of what an audio clip takes: longer ones are refused where memory is short, with what to do. */
function audioRequestBytes(kind: SessionKind, { spec, sizes, workers }: MemoryInput): number {
  const run = Math.max(runBytes(sizes, { tokens: AUDIO_STATES, attended: AUDIO_STATES }), LEAST_RUN_BYTES);
  const sessions = kind === 'pool' ? workers + 1 : 1;
  const caches =
    kind === 'encoder-decoder' ? 2 * CACHE_COPIES * cacheBytesPerToken({ spec, sizes }) * AUDIO_STATES : 0;
  return Math.round(AUDIO_BYTES + sessions * run + caches);
}

/** True for tasks about audio clips. */
export const readsAudio = (task: TaskId): boolean => taskOf(task).modality === 'audio';

/** Bytes of an image of the usual size, by the rule that the server admits them by. */
function diffusionBytes({ spec, noise }: MemoryInput): number {
  const runs = noise ? bytesForGraph(spec, noise) : 0;
  return Math.round(Math.max(weightBytes(spec) / 2, runs) + 4 * LEAST_RUN_BYTES);
}

/** Bytes of runs, caches and images, and of what follows formats. */
export const requestBytes = (kind: SessionKind, input: MemoryInput): number =>
  runRequestBytes(kind, input) + grammarBytes(input.spec.task, input.sizes.vocabulary);

function runRequestBytes(kind: SessionKind, input: MemoryInput): number {
  const { spec, sizes, image, workers } = input;
  if (engineOf(spec.engine).runs === 'per-step') return diffusionBytes(input);
  if (readsAudio(spec.task)) return audioRequestBytes(kind, input);
  if (kind === 'media-chat') {
    const run = visionRunBytes(input);
    // Half of the room at most is set aside for media (runtime/engines/generation/prompts/media/encoder-memory.ts).
    const decoded = 'audio_encoder' in spec.graphs ? AUDIO_BYTES : pixelBytes();
    return Math.round(decoded + run + Math.max(run, decoderRequestBytes({ spec, sizes })));
  }
  if (spec.profile !== 'text') {
    const run = Math.max(bytesForGraph(spec, image.longest), LEAST_RUN_BYTES);
    const sessions = kind === 'pool' ? workers + 1 : 1;
    // Runs of several small images may keep an eighth of the memory (runtime/engines/batching/tensor-encoder.ts).
    return Math.round(pixelBytes() * (8 / 7) + sessions * run + image.tensors);
  }
  if (kind === 'decoder') return decoderRequestBytes({ spec, sizes });
  const integers = hasIntegers(spec);
  const length = (most: number) => Math.min(most, sizes.positions || UNKNOWN_TOKENS);
  const perToken = cacheBytesPerToken({ spec, sizes });
  const tokens = length(TEXT_TOKENS);
  if (kind === 'encoder-decoder') {
    // Keys and values of the input and of the answer.
    const shape = { sizes, perToken: 2 * perToken, chunk: Infinity, integers };
    return promptBytes(shape, tokens) + 2 * CACHE_COPIES * perToken * tokens;
  }
  const row = runBytes(sizes, { tokens, attended: tokens }, integers);
  const batch = runBytes(sizes, { tokens: BATCH_TOKENS, attended: BATCH_TOKENS }, integers);
  return kind === 'single' ? row : 2 * Math.max(row, workers * batch);
}

const pixelBytes = (): number => Math.round(PIXEL_BYTES * DEFAULTS.maxPixels) + STRIP_BYTES;

const hasIntegers = ({ dtype }: MemoryInput['spec']): boolean => /^(?:q8|u?int8)$/.test(dtype);

function cacheBytesPerToken({ spec: { dtype }, sizes }: Pick<MemoryInput, 'spec' | 'sizes'>): number {
  const layers = sizes.keyLayers ?? sizes.layers;
  return 2 * layers * sizes.keys * (dtype.endsWith('f16') || dtype === 'fp16' ? 2 : 4);
}

/** Bytes of a long prompt's run, and of its cache. */
function decoderRequestBytes({ spec, sizes }: Pick<MemoryInput, 'spec' | 'sizes'>): number {
  const tokens = Math.min(PROMPT_TOKENS, sizes.positions || UNKNOWN_TOKENS);
  const [integers, perToken] = [hasIntegers(spec), cacheBytesPerToken({ spec, sizes })];
  const shape = { sizes, perToken, chunk: integers ? Infinity : PROMPT_CHUNK, integers };
  return promptBytes(shape, tokens) + CACHE_COPIES * perToken * tokens;
}

/** Growth of V8's heap (available-memory.ts), and differences between versions of Node.js and kernels. */
const HEAP_BYTES = 32 * 2 ** 20;
const SPREAD_BYTES = 40 * 2 ** 20;
/** Copies of request bodies, as in runtime/worker/memory-limit.ts. */
const BODY_COPIES = 3;
const BODY_SHARE = 1 / 32;

/** The container limit that leaves this much for requests. */
export function limitFor(loadedBytes: number, requests: number, profile: Profile): number {
  const needed = loadedBytes + requests + HEAP_BYTES + SPREAD_BYTES;
  // By the profile: tasks that make media from a text are given more than their bodies take.
  const body = defaultBodyBytes(profile !== 'text');
  const most = needed + BODY_COPIES * DEFAULTS.maxPendingBytes;
  const shared = needed / (1 - BODY_COPIES * BODY_SHARE);
  return Math.round(Math.min(most, Math.max(needed + BODY_COPIES * body, shared)));
}
