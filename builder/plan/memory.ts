import { engineOf } from '../../runtime/core/engines.js';
import { isTrainedModel } from '../../runtime/core/vocabulary-files.js';
import type { Dtype, Profile } from '../../runtime/core/spec.js';
import { runBytes } from '../../runtime/core/run-memory.js';
import { bytesForGraph } from '../../runtime/core/media-run-memory.js';
import { readsAudio, limitFor, requestBytes, visionRunBytes } from './request-memory.js';
import {
  decoderBytes,
  ENCODERS,
  type MemoryInput,
  type SessionKind,
  sessionKind,
  weightBytes,
} from './session-kind.js';

/**
 * Memory of a server on a CPU that answers requests of usual size one after the other.
 *
 * "Memory" is the proportional set size of both processes: heaps, weights and run buffers, mapped weights in use, and the
 * pages of Node.js and ONNX Runtime. `docker run --memory` must allow for it. The page cache of files that were read once
 * is not included: the kernel drops it first. With less than the peak, a container is killed or reads its weights from
 * disk again and again.
 */
export interface MemoryForecast {
  /** Largest memory at any time from the start on. */
  peakBytes: number;
  /** Largest memory while loading, when weights are read and repacked at the same time. */
  loadPeakBytes: number;
  /** While it answers requests of usual size one after the other. */
  steadyBytes: number;
  /** Limit that is also enough for the longest requests, and for as many at the same time as the server accepts. */
  limitBytes: number;
}

const MB = 1e6;

/**
 * HTTP process and model process with one session without weights on its thread, including the pages of Node.js and ONNX
 * Runtime. Between Node.js 20 (about 10 MB less) and Node.js 24, which images have (about 10 MB more).
 */
const PROCESSES = { text: 150 * MB, vision: 172 * MB, media: 164 * MB, llama: 150 * MB } as const;
/** A session thread: a V8 isolate, messages, and a session's own structures. */
const SESSION_THREAD = 10.3 * MB;
/** Bytes in JavaScript per vocabulary entry: strings and maps. */
const ENTRY_BYTES = 340;
/** The same with merge rules, about one per entry. */
const MERGED_ENTRY_BYTES = 900;

/** Predicts memory on a CPU before any weights are downloaded. Pure. */
export function predictMemory(input: MemoryInput): MemoryForecast {
  const kind = sessionKind(input);
  const { profile } = input.spec;
  const all = usualMemory(kind, input);
  const requests = limitFor(all.loadedBytes, requestBytes(kind, input), profile);
  // Sessions that are made when requests meet: whose callers come one by one, never has them.
  const { loadedBytes: _, ...usual } = growsOnDemand(kind, input.spec) ? usualMemory('lone', input) : all;
  return { ...usual, limitBytes: Math.max(all.peakBytes, requests) };
}

function usualMemory(kind: SessionKind | 'lone', input: MemoryInput) {
  const { spec, workers } = input;
  const threads = kind === 'pool' ? workers * SESSION_THREAD - SESSION_THREAD : 0;
  const base = PROCESSES[spec.profile] + threads + tokenizerBytes(input);
  const { loading, loaded } = WEIGHTS[kind](input);
  const steadyBytes = Math.round(base + loaded + usualRunBytes(kind, input));
  const copying = Math.round(base + loading);
  // Runs with an image are tried, and a request is answered, before the server is ready.
  const loadPeakBytes = readsImages(kind, spec) ? Math.max(copying, steadyBytes) : copying;
  return {
    ...{ loadedBytes: base + loaded, loadPeakBytes, steadyBytes },
    peakBytes: Math.max(loadPeakBytes, steadyBytes),
  };
}

/** Models that begin with one session (runtime/engines/sessions/growing-pool.ts): those of audio clips know their room by the others. */
const growsOnDemand = (kind: SessionKind, { task, engine }: MemoryInput['spec']): boolean =>
  kind === 'pool' && engineOf(engine).grows && !readsAudio(task);

function tokenizerBytes({ spec, sizes }: MemoryInput): number {
  if (!spec.files.some(({ path }) => path === 'tokenizer.json' || isTrainedModel(path))) return 0;
  const merges = isDecoder(spec) || spec.files.some(({ path }) => path === 'merges.txt');
  return sizes.vocabulary * (merges ? MERGED_ENTRY_BYTES : ENTRY_BYTES);
}

/** Decoder-only models, also those that read media, have byte-pair vocabularies. */
function isDecoder({ engine, graphs }: MemoryInput['spec']): boolean {
  return (
    engineOf(engine).runs === 'per-token' && ('model' in graphs || ENCODERS.some((role) => role in graphs))
  );
}

interface WeightMemory {
  /** Largest amount while sessions are opened. */
  loading: number;
  /** Afterwards. */
  loaded: number;
}

const WEIGHTS: Record<SessionKind | 'lone', (input: MemoryInput) => WeightMemory> = {
  /** The first session of what may become a pool: matrices of a mapped graph are laid out one by one. */
  lone: ({ spec, sizes, image }) => {
    const isRead = readsImages('lone', spec);
    const kept = unpacked(spec.dtype) * LAID_OUT;
    const folded = isRead && spec.written ? image.folded : 0;
    const folds = isRead && image.convolutional;
    const copies = Math.max(kept, folds ? FOLDED_MEANWHILE * unpacked(spec.dtype) : 0);
    const unread = unreadTable(spec, sizes);
    const bytes = (of: number) => openBytes(spec) * of + folded - unread;
    return { loading: bytes(copies), loaded: bytes(kept) };
  },
  pool: (input) => {
    const { spec, image } = input;
    const [weights, width] = [openBytes(spec), widthOf(spec.dtype)];
    // The first session of a text encoder answers while the copy is made.
    const copies = spec.profile === 'text' ? BOTH_COPIES[width] : mappedCopies(input);
    const folded = readsImages('pool', spec) && spec.written ? image.folded : 0;
    // Mapped afterwards, so unused parts of tables don't count.
    const kept = unpacked(spec.dtype) * (readsImages('pool', spec) ? LAID_OUT : 1);
    return { loading: weights * copies + folded, loaded: weights * kept + folded };
  },
  /** Each matrix is packed and then freed; tables are copied while the file is held. */
  single: ({ spec, sizes, image }) => {
    const folds = readsImages('single', spec) && image.convolutional;
    const weights = openBytes(spec) * unpacked(spec.dtype) * (folds ? FOLDED_COPIES : 1);
    const tables = tableBytes(spec.dtype, sizes);
    const narrow = widthOf(spec.dtype) === 'half' ? openBytes(spec) : 0;
    return { loading: weights + tables + narrow, loaded: weights + tables / 4 };
  },
  /** The graph is opened from memory over a mapping of its file, so only the packed matrices are held. */
  decoder: ({ spec }) => {
    const weights = openBytes(spec) * DECODER[widthOf(spec.dtype)];
    return { loading: weights, loaded: weights };
  },
  /** Several graphs are opened concurrently; sessions have no arena, and malloc keeps the read buffers. */
  'encoder-decoder': ({ spec }) => {
    // Graphs of ours map what they read; so measured for those of audio clips and of images.
    const copies = (spec.written && MAPPED_PAIRS[spec.profile]) || 2.05;
    const weights = copies * openBytes(spec) * (unpacked(spec.dtype) === 1 ? 1 : 1.5);
    return { loading: weights, loaded: weights };
  },
  /** The decoder is opened as any other, the encoder of its media as a single session. */
  'media-chat': ({ spec }) => {
    const decoder = decoderBytes(spec);
    const rest = (openBytes(spec) - decoder) * unpacked(spec.dtype);
    const weights = decoder * DECODER[widthOf(spec.dtype)] + rest;
    return { loading: weights, loaded: weights };
  },
};

const MAPPED_PAIRS: Partial<Record<Profile, number>> = { media: 1.85, vision: 1.25 };

/**
 * A table of embeddings is mapped, and a text reads a few of its rows. Where it also gives scores it is packed as a matrix, and 16
 * bits are widened.
 */
function unreadTable(spec: MemoryInput['spec'], sizes: MemoryInput['sizes']): number {
  const { task, dtype } = spec;
  if (task === 'fill-mask' || widthOf(dtype) === 'half') return 0;
  return Math.min(tableBytes(dtype, sizes), openBytes(spec));
}

/** Scales of our own packed weights are eight bits in the file and floats in an open graph. */
const OPENED = 1.16;
const isMixed = ({ files }: MemoryInput['spec']): boolean =>
  files.some(({ path }) => /^slipway-(?:merged-)?q[456]-/.test(path));

const openBytes = (spec: MemoryInput['spec']): number => weightBytes(spec) * (isMixed(spec) ? OPENED : 1);

const tableBytes = (dtype: Dtype, { vocabulary, hidden }: MemoryInput['sizes']): number =>
  vocabulary * hidden * BYTES[widthOf(dtype)];

type Width = 'float' | 'half' | 'byte' | 'nibble';

function widthOf(dtype: Dtype): Width {
  if (dtype === 'fp32') return 'float';
  if (dtype.endsWith('16') && !dtype.startsWith('q')) return 'half';
  return dtype.startsWith('q4') || dtype === 'bnb4' ? 'nibble' : 'byte';
}

const BYTES: Record<Width, number> = { float: 4, half: 4, byte: 1, nibble: 4 };
/** CPUs have no fp16 kernels, so weights are converted to fp32 when the graph is optimized. */
const unpacked = (dtype: Dtype): number => (widthOf(dtype) === 'half' ? 2 : 1);
const BOTH_COPIES: Record<Width, number> = { float: 2, half: 3.6, byte: 2.05, nibble: 2 };
/** Files are mapped and their matrices packed one by one, but weights of 16 bits are widened first. */
const MAPPED_COPIES: Record<Width, number> = { ...BOTH_COPIES, float: 1.1, half: 4 };
/** Some weights are used in two layouts. */
const LAID_OUT = 1.05;
/** Norms are folded into convolutions, which are laid out anew: a session holds what it was made of, too. */
const FOLDED_COPIES = 2.5;

/** Of that, what is there at once where it is written as a copy. */
const FOLDED_MEANWHILE = 2;

function mappedCopies({ spec, image }: MemoryInput): number {
  const folds = readsImages('pool', spec) && image.convolutional;
  return Math.max(MAPPED_COPIES[widthOf(spec.dtype)], folds ? FOLDED_MEANWHILE : 0);
}

/** True for networks that read an image, or the frames of a video, a run. */
const readsImages = (kind: SessionKind | 'lone', { profile, task, engine }: MemoryInput['spec']): boolean =>
  profile !== 'text' && engineOf(engine).runs !== 'per-step' && kind !== 'media-chat' && !readsAudio(task);
const DECODER: Record<Width, number> = { float: 1, half: 2.05, byte: 1.26, nibble: 0.9 };

/** Usual length of a text or prompt, and of a question's context, in tokens. */
const TEXT_TOKENS = 128;
const PROMPT_TOKENS = 40;
const CONTEXT_TOKENS = 1500;
const QUESTION_WINDOW = 384;
/** Decoded image before it is resized. */
const IMAGE_BYTES = 2 * MB;
/** States and samples of an audio clip of some seconds. */
const AUDIO_STATES = 197;
const AUDIO_BYTES = 2 * MB;
/** Caches, prefixes and messages of generations. */
const GENERATION_BYTES = 2 * MB;
const FLOAT = 4;

/** Run buffers, which sessions with bounded inputs keep. */
function usualRunBytes(
  kind: SessionKind | 'lone',
  { spec, sizes, image, audio, noise }: MemoryInput,
): number {
  const { hidden, intermediate, heads, layers, positions } = sizes;
  const wide = 3 * intermediate + 6 * hidden;
  // In a pool two sessions keep buffers: one was tested while loading, one runs single images on all threads.
  if (kind === 'media-chat')
    return (
      IMAGE_BYTES + GENERATION_BYTES + visionRunBytes({ spec, sizes }) + FLOAT * PROMPT_TOKENS * 5 * wide
    );
  const sessions = kind === 'pool' ? 2 : 1;
  if (readsImages(kind, spec)) return IMAGE_BYTES + image.tensors + sessions * bytesForGraph(spec, image.run);
  if (readsAudio(spec.task)) {
    const tried = runBytes(sizes, { tokens: AUDIO_STATES, attended: AUDIO_STATES });
    // Tried with a second of audio, used with more by the session that has all threads.
    return AUDIO_BYTES + (sessions - 1) * tried + Math.max(audio ?? 0, tried);
  }
  if (engineOf(spec.engine).runs === 'per-step')
    return IMAGE_BYTES + (noise ? bytesForGraph(spec, noise) : 0);
  if (kind === 'encoder-decoder') return GENERATION_BYTES + FLOAT * TEXT_TOKENS * wide;
  if (kind === 'decoder') {
    // Integer kernels keep the sums of each layer as integers and as floats.
    const perToken = widthOf(spec.dtype) === 'byte' ? layers * (3 * intermediate + 4 * hidden) * 2 : 5 * wide;
    return (
      GENERATION_BYTES + FLOAT * PROMPT_TOKENS * perToken + FLOAT * layers * hidden * 2 * PROMPT_TOKENS * 2
    );
  }
  if (spec.task !== 'question-answering') return FLOAT * TEXT_TOKENS * (wide + 2 * heads * TEXT_TOKENS);
  // Windows of a context share runs; scores, mask and softmax of their attention are in memory together.
  const window = Math.min(QUESTION_WINDOW, positions || QUESTION_WINDOW);
  return FLOAT * CONTEXT_TOKENS * (wide + 3 * heads * window);
}
