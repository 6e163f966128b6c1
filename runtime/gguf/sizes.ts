import type { GgufMetadata, GgufTensor } from './types.js';

/** Sizes of a network, from the metadata of its file. */
export interface GgufSizes {
  architecture: string;
  layers: number;
  width: number;
  feedForward: number;
  heads: number;
  vocabulary: number;
  /** Most tokens that it was trained for; 0 where the file does not say. */
  trainedLength: number;
  /** Most tokens for which llama.cpp computes what transformers does; 0 where the file does not say. */
  exactLength: number;
  /**
   * Of positions with factors for short and for long texts: the longest short one. transformers takes the factors by the length of
   * each text, llama.cpp by that of its cache. 0 for others.
   */
  shortLength: number;
  /** Numbers of keys and values that a token leaves in each layer; 0 for layers without attention. */
  cached: readonly number[];
  /** Bytes of the states of a row, which don't grow with its tokens. */
  stateBytes: number;
}

/** A value of the metadata as a number, or one for each layer; undefined where it is no number. */
function numberAt(metadata: GgufMetadata, key: string, layer = 0): number | undefined {
  const value = metadata.get(key);
  if (typeof value === 'object') {
    const one = (value as ArrayLike<unknown>)[layer];
    return typeof one === 'number' ? one : undefined;
  }
  return typeof value === 'number' ? value : undefined;
}

const LONG_FACTORS = /^(?:blk\.\d+\.)?rope_factors_long\.weight$/;

/** Far beyond any model: what is above is no count of layers. */
const MAX_LAYERS = 4096;

export function ggufSizes(
  metadata: GgufMetadata,
  tensors: readonly Pick<GgufTensor, 'name' | 'shape'>[],
): GgufSizes {
  const architecture = String(metadata.get('general.architecture') ?? '');
  const of = (key: string, layer?: number) => numberAt(metadata, `${architecture}.${key}`, layer);
  const layers = Math.min(MAX_LAYERS, of('block_count') ?? 0);
  const width = of('embedding_length') ?? 0;
  const table = tensors.find(({ name }) => name === 'token_embd.weight')?.shape[0];
  return {
    ...{ architecture, layers, width },
    feedForward: of('feed_forward_length') ?? 4 * width,
    heads: of('attention.head_count') ?? 0,
    vocabulary: table ?? of('vocab_size') ?? 0,
    trainedLength: of('context_length') ?? 0,
    exactLength: exactLength(architecture, of),
    shortLength: tensors.some(({ name }) => LONG_FACTORS.test(name))
      ? (of('rope.scaling.original_context_length') ?? 0)
      : 0,
    cached:
      metadata.get(`${architecture}.attention.causal`) === false
        ? []
        : Array.from({ length: layers }, (_, i) => cachedIn(of, i, width)),
    stateBytes: stateBytes(of, layers),
  };
}

/** Of all published models; converters do not write it. */
export const STARCODER_WINDOW = 4096;
/** llama.cpp gives EXAONE 4 a window where it has as many layers as the 32B model. */
const EXAONE_LAYERS = 64;

/** Windows of attention that transformers computes and llama.cpp does not, which lets each token see all before it. */
const IGNORED_WINDOWS: Readonly<Record<string, (of: Of) => number | undefined>> = {
  phi3: (of) => of('attention.sliding_window'),
  starcoder2: (of) => of('attention.sliding_window') ?? STARCODER_WINDOW,
  exaone4: (of) => (of('block_count') === EXAONE_LAYERS ? undefined : of('attention.sliding_window')),
};

function exactLength(architecture: string, of: Of): number {
  const length = of('context_length') ?? 0;
  const window = IGNORED_WINDOWS[architecture]?.(of);
  return window ? Math.min(length || window, window) : length;
}

type Of = (key: string, layer?: number) => number | undefined;

function cachedIn(of: Of, layer: number, width: number): number {
  const latent = of('attention.kv_lora_rank');
  // One vector for all heads; values are a part of it.
  if (latent !== undefined && of('attention.key_length_mla') !== undefined)
    return latent + (of('rope.dimension_count') ?? 0);
  const heads = of('attention.head_count', layer) ?? 0;
  const shared = of('attention.head_count_kv', layer) ?? heads;
  if (heads === 0) return 0;
  const usual = width / heads;
  return shared * ((of('attention.key_length') ?? usual) + (of('attention.value_length') ?? usual));
}

/** Of recurrent layers: a window of what they read, and their states. */
function stateBytes(of: Of, layers: number): number {
  const [inner, state] = [of('ssm.inner_size') ?? 0, of('ssm.state_size') ?? 0];
  const window = (of('ssm.conv_kernel') ?? 1) - 1;
  return 4 * layers * (window * (inner + 2 * (of('ssm.group_count') ?? 0) * state) + inner * state);
}
