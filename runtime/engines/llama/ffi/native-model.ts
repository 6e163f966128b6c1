import type { ContextOptions, LlamaModel } from '../llama.js';
import { type Bound, inBackground, type Pointer } from './bind.js';
import { CACHE_TYPE_NUMBERS, POOLING_NUMBERS } from './layouts.js';
import { createNativeContext } from './native-context.js';
import { createNativeVocabulary } from './native-vocabulary.js';
import { refusal } from './refusal.js';

/** A value of the metadata is a template at most. */
const MOST_BYTES = 2 ** 20;

/**
 * @param model that `close` frees
 * @param onGpu part of it is on a GPU
 */
export function createNativeModel(bound: Bound, model: Pointer, onGpu: boolean): LlamaModel {
  const { functions, log } = bound;
  const metadata = (key: string): string | undefined => {
    const size = functions.llama_model_meta_val_str(model, key, null, 0) as number;
    if (size < 0 || size >= MOST_BYTES) return undefined;
    const bytes = Buffer.alloc(size + 1);
    functions.llama_model_meta_val_str(model, key, bytes, bytes.length);
    return bytes.toString('utf8', 0, size);
  };
  const architecture = metadata('general.architecture') ?? '';
  const causal = metadata(`${architecture}.attention.causal`) !== 'false';
  const vocabulary = createNativeVocabulary(
    bound,
    functions.llama_model_get_vocab(model) as Pointer,
    metadata('tokenizer.ggml.add_space_prefix'),
  );
  const width = functions.llama_model_n_embd_out(model) as number;
  const classes = functions.llama_model_n_cls_out(model) as number;
  return {
    ...{ vocabulary, width, classes, metadata },
    trainedLength: functions.llama_model_n_ctx_train(model) as number,
    layers: functions.llama_model_n_layer(model) as number,
    keepsStates:
      (functions.llama_model_is_recurrent(model) as boolean) ||
      (functions.llama_model_is_hybrid(model) as boolean),
    encodesOnly: !causal || (functions.llama_model_has_encoder(model) as boolean),
    async openContext(options) {
      log.takeErrors();
      const params = {
        ...(functions.llama_context_default_params() as Record<string, unknown>),
        ...paramsOf(options),
        // Else a GPU that is there would be used for long prompts all the same.
        ...(!onGpu && { offload_kqv: false, op_offload: false }),
      };
      const context = await inBackground<Pointer>(functions.llama_init_from_model, model, params);
      if (context === null) throw refusal("llama.cpp can't open a context", log.takeErrors());
      return createNativeContext(bound, context, { ...options, scores: vocabulary.size, width, classes });
    },
    close: () => functions.llama_model_free(model),
  };
}

function paramsOf(options: ContextOptions): Record<string, unknown> {
  const { cells, batch, rows, outputs, threads, cacheType, pooling } = options;
  return {
    n_ctx: cells,
    n_batch: batch,
    n_ubatch: batch,
    n_seq_max: rows,
    n_outputs_max: outputs,
    n_outputs_max_per_seq: 0,
    n_threads: threads,
    n_threads_batch: threads,
    type_k: CACHE_TYPE_NUMBERS[cacheType],
    type_v: CACHE_TYPE_NUMBERS[cacheType],
    // Flash attention rounds to 16 bits on processors.
    ...(cacheType === 'f32' && { flash_attn_type: 0 }),
    kv_unified: true,
    // Keys and values beyond a window are kept, so that rows can be cut and copied anywhere.
    swa_full: true,
    ...(pooling && { embeddings: true, pooling_type: POOLING_NUMBERS[pooling] }),
  };
}
