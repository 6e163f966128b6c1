/**
 * Structs that llama.h passes by value, field by field, for exactly the release in package.json: fields move between
 * releases, so what `llama_*_default_params()` gives is compared with these values at each start (check-layouts.ts).
 */
type FieldType = 'int32' | 'uint32' | 'float' | 'bool' | 'size_t' | 'void *';

/** A field, its type, and its default; null for a pointer that is not set. */
export type Layout = readonly (readonly [
  name: string,
  type: FieldType,
  value: number | boolean | null | undefined,
])[];

/** What `llama_version()` gives. */
export const LLAMA_VERSION = '0.5.0-dev';

export const MODEL_PARAMS: Layout = [
  ['devices', 'void *', null],
  ['tensor_buft_overrides', 'void *', null],
  ['n_gpu_layers', 'int32', -1],
  ['split_mode', 'int32', 1],
  ['load_mode', 'int32', -1],
  ['lazy_mode', 'int32', 1],
  ['main_gpu', 'int32', 0],
  ['tensor_split', 'void *', null],
  ['progress_callback', 'void *', null],
  ['progress_callback_user_data', 'void *', null],
  ['kv_overrides', 'void *', null],
  ['vocab_only', 'bool', false],
  ['check_tensors', 'bool', false],
  ['use_extra_bufts', 'bool', true],
  ['no_host', 'bool', false],
  ['no_alloc', 'bool', false],
  ['load_mtp', 'bool', false],
];

export const CONTEXT_PARAMS: Layout = [
  ['n_ctx', 'uint32', 512],
  ['n_batch', 'uint32', 2048],
  ['n_ubatch', 'uint32', 512],
  ['n_seq_max', 'uint32', 1],
  ['n_rs_seq', 'uint32', 0],
  ['n_outputs_max', 'uint32', 0],
  ['n_outputs_max_per_seq', 'uint32', 1],
  ['n_threads', 'int32', 4],
  ['n_threads_batch', 'int32', 4],
  ['ctx_type', 'int32', 0],
  ['rope_scaling_type', 'int32', -1],
  ['pooling_type', 'int32', -1],
  ['attention_type', 'int32', -1],
  ['flash_attn_type', 'int32', -1],
  ['rope_freq_base', 'float', 0],
  ['rope_freq_scale', 'float', 0],
  ['yarn_ext_factor', 'float', -1],
  ['yarn_attn_factor', 'float', -1],
  ['yarn_beta_fast', 'float', -1],
  ['yarn_beta_slow', 'float', -1],
  ['yarn_orig_ctx', 'uint32', 0],
  ['defrag_thold', 'float', -1],
  ['cb_eval', 'void *', null],
  ['cb_eval_user_data', 'void *', null],
  ['type_k', 'int32', 1],
  ['type_v', 'int32', 1],
  ['abort_callback', 'void *', null],
  ['abort_callback_data', 'void *', null],
  ['embeddings', 'bool', false],
  ['offload_kqv', 'bool', true],
  ['no_perf', 'bool', true],
  ['op_offload', 'bool', true],
  ['swa_full', 'bool', true],
  ['kv_unified', 'bool', false],
  ['samplers', 'void *', null],
  ['n_samplers', 'size_t', 0],
  ['ctx_other', 'void *', null],
];

/** It has no defaults. */
export const BATCH: Layout = [
  ['n_tokens', 'int32', undefined],
  ['token', 'void *', undefined],
  ['embd', 'void *', undefined],
  ['pos', 'void *', undefined],
  ['n_seq_id', 'void *', undefined],
  ['seq_id', 'void *', undefined],
  ['logits', 'void *', undefined],
];

/** Types of ggml that a cache can have, by their numbers. */
export const CACHE_TYPE_NUMBERS = { f32: 0, f16: 1, q8_0: 8 } as const;

/** Kinds of devices, by their numbers. */
export const DEVICE_KINDS = ['cpu', 'gpu', 'igpu', 'accelerator', 'meta'] as const;

/** How vectors of tokens become one, by their numbers. */
export const POOLING_NUMBERS = { model: -1, none: 0, mean: 1, cls: 2, last: 3, rank: 4 } as const;

/** Attributes of tokens, as bits. */
export const TOKEN_BITS = {
  unknown: 1,
  unused: 2,
  normal: 4,
  control: 8,
  userDefined: 16,
  byte: 32,
} as const;
