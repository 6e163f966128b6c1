import type { Dtype } from '../../runtime/core/spec.js';
import { limitFor, pictureRunBytes, requestBytes } from './request-memory.js';
import { type MemoryInput, type SessionKind, sessionKind, weightBytes } from './session-kind.js';

/**
 * Memory of a server that answers one request of usual size after the other on a CPU.
 *
 * "Memory" is what both processes hold, each page once (proportional set size): their heaps, weights and run buffers,
 * mapped weights that are in use, and the pages of Node.js and ONNX Runtime themselves. It is what `docker run
 * --memory` has to allow for. Pages that the kernel merely keeps of files that were read once are not in it: under a
 * limit it drops those before anything else. With less than the peak a container is killed, or reads its weights from
 * disk again and again.
 */
export interface MemoryForecast {
  /** Most memory at any time from the start until requests have been answered. */
  peakBytes: number;
  /** Most while the model is opened: weights are read and laid out anew at the same time. */
  loadPeakBytes: number;
  /** While it answers requests of usual size, one after the other. */
  steadyBytes: number;
  /** Limit under which the longest requests are answered, too, and as many at a time as the server takes. */
  limitBytes: number;
}

const MB = 1e6;

/**
 * HTTP process and model process with an opened session of no weight on a thread of its own, their pages of Node.js and ONNX Runtime included.
 * Between what Node.js 20 takes (some 10 MB less) and Node.js 24, which images have (some 10 MB more).
 */
const PROCESSES = { text: 150 * MB, vision: 164 * MB, media: 164 * MB } as const;
/** A session thread: a V8 isolate, messages, and a session's own structures. */
const SESSION_THREAD = 10.3 * MB;
/** Strings, maps and merge ranks in JavaScript, for each entry of the vocabulary. */
const ENTRY_BYTES = 340;
/** The same where there are merge rules, about one an entry. */
const MERGED_ENTRY_BYTES = 900;

/** Predicts memory on a CPU from what is known before any weight byte has moved. Pure. */
export function predictMemory(input: MemoryInput): MemoryForecast {
  const kind = sessionKind(input);
  const { spec, workers } = input;
  const threads = kind === 'pool' ? workers * SESSION_THREAD - SESSION_THREAD : 0;
  const base = PROCESSES[spec.profile] + threads + tokenizerBytes(input);
  const { loading, loaded } = WEIGHTS[kind](input);
  const steadyBytes = Math.round(base + loaded + usualRunBytes(kind, input));
  const loadPeakBytes = Math.round(base + loading);
  const peakBytes = Math.max(loadPeakBytes, steadyBytes);
  const limitBytes = Math.max(peakBytes, limitFor(base + loaded, requestBytes(kind, input), spec.profile));
  return { peakBytes, loadPeakBytes, steadyBytes, limitBytes };
}

function tokenizerBytes({ spec, sizes }: MemoryInput): number {
  if (!spec.files.some(({ path }) => path === 'tokenizer.json')) return 0;
  const merges = isDecoder(spec) || spec.files.some(({ path }) => path === 'merges.txt');
  return sizes.vocabulary * (merges ? MERGED_ENTRY_BYTES : ENTRY_BYTES);
}

/** Decoder-only models have byte-pair vocabularies, whatever files lie beside them. */
function isDecoder({ engine, graphs }: MemoryInput['spec']): boolean {
  return engine === 'generation' && 'model' in graphs;
}

interface WeightMemory {
  /** Most at a time while sessions are opened. */
  loading: number;
  /** Afterwards. */
  loaded: number;
}

const WEIGHTS: Record<SessionKind, (input: MemoryInput) => WeightMemory> = {
  /** Read, and packed for the kernels beside that; then only the packed copy, mapped: tables count as they are touched. */
  pool: ({ spec }) => {
    const weights = weightBytes(spec);
    return { loading: weights * BOTH_COPIES[widthOf(spec.dtype)], loaded: weights * unpacked(spec.dtype) };
  },
  /** Each matrix is packed and then freed; tables are not packed, and are copied out of the file while it is held. */
  single: ({ spec, sizes }) => {
    const weights = weightBytes(spec) * unpacked(spec.dtype);
    const tables = sizes.vocabulary * sizes.hidden * BYTES[widthOf(spec.dtype)];
    const narrow = spec.dtype === 'fp16' ? weightBytes(spec) : 0;
    return { loading: weights + tables + narrow, loaded: weights + tables / 4 };
  },
  /** The graph is opened from memory over a mapping of its file, so only the packed matrices are held. */
  decoder: ({ spec }) => {
    const weights = weightBytes(spec) * DECODER[widthOf(spec.dtype)];
    return { loading: weights, loaded: weights };
  },
  /** Several graphs open side by side; their sessions keep no arena, and malloc keeps what was read. */
  'encoder-decoder': ({ spec }) => {
    const weights = 2.05 * weightBytes(spec) * (unpacked(spec.dtype) === 1 ? 1 : 1.5);
    return { loading: weights, loaded: weights };
  },
};

type Width = 'float' | 'half' | 'byte' | 'nibble';

function widthOf(dtype: Dtype): Width {
  if (dtype === 'fp32') return 'float';
  if (dtype === 'fp16') return 'half';
  return dtype.startsWith('q4') || dtype === 'bnb4' ? 'nibble' : 'byte';
}

const BYTES: Record<Width, number> = { float: 4, half: 4, byte: 1, nibble: 4 };
/** Half precision has no kernels on CPUs: it is widened when the graph is optimised. */
const unpacked = (dtype: Dtype): number => (dtype === 'fp16' ? 2 : 1);
const BOTH_COPIES: Record<Width, number> = { float: 2, half: 3.6, byte: 2.05, nibble: 2 };
const DECODER: Record<Width, number> = { float: 1, half: 2.05, byte: 1.26, nibble: 0.9 };

/** A usual text or prompt, and a usual context of a question, in tokens. */
const TEXT_TOKENS = 128;
const PROMPT_TOKENS = 40;
const CONTEXT_TOKENS = 1500;
const QUESTION_WINDOW = 384;
/** What a picture is made of before it is small. */
const PICTURE_BYTES = 2 * MB;
/** Caches, prefixes and messages of generations. */
const GENERATION_BYTES = 2 * MB;
const FLOAT = 4;

/** Buffers of runs, which sessions of bounded inputs keep. */
function usualRunBytes(kind: SessionKind, { spec, sizes }: MemoryInput): number {
  const { hidden, intermediate, heads, layers, positions } = sizes;
  const wide = 3 * intermediate + 6 * hidden;
  // One session is tried while loading, and a lone picture runs on all threads, in a session that keeps as much.
  if (spec.profile !== 'text') return PICTURE_BYTES + (kind === 'pool' ? 2 : 1) * pictureRunBytes(sizes);
  if (kind === 'encoder-decoder') return GENERATION_BYTES + FLOAT * TEXT_TOKENS * wide;
  if (kind === 'decoder') {
    // Integer kernels hand the sums of each layer on as whole numbers and as floats, and malloc keeps them.
    const perToken = widthOf(spec.dtype) === 'byte' ? layers * (3 * intermediate + 4 * hidden) * 2 : 5 * wide;
    return (
      GENERATION_BYTES + FLOAT * PROMPT_TOKENS * perToken + FLOAT * layers * hidden * 2 * PROMPT_TOKENS * 2
    );
  }
  if (spec.task !== 'question-answering') return FLOAT * TEXT_TOKENS * (wide + 2 * heads * TEXT_TOKENS);
  // Windows over a context share runs; scores, mask and softmax of all their attention are there at once.
  const window = Math.min(QUESTION_WINDOW, positions || QUESTION_WINDOW);
  return FLOAT * CONTEXT_TOKENS * (wide + 3 * heads * window);
}
