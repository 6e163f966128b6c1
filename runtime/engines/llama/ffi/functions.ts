/** Functions of the library, as koffi takes their signatures. Pointers to what is opaque are `void *`. */
export const FUNCTIONS = {
  llama_version: 'const char *llama_version()',
  llama_backend_init: 'void llama_backend_init()',
  llama_log_set: 'void llama_log_set(void *callback, void *data)',
  llama_model_default_params: 'llama_model_params llama_model_default_params()',
  llama_context_default_params: 'llama_context_params llama_context_default_params()',
  llama_model_load_from_file: 'void *llama_model_load_from_file(const char *path, llama_model_params params)',
  llama_model_free: 'void llama_model_free(void *model)',
  llama_init_from_model: 'void *llama_init_from_model(void *model, llama_context_params params)',
  llama_free: 'void llama_free(void *context)',
  llama_max_devices: 'size_t llama_max_devices()',
  llama_get_memory: 'void *llama_get_memory(void *context)',
  llama_n_ctx: 'uint32 llama_n_ctx(void *context)',
  llama_model_get_vocab: 'void *llama_model_get_vocab(void *model)',
  llama_model_n_ctx_train: 'int32 llama_model_n_ctx_train(void *model)',
  llama_model_n_layer: 'int32 llama_model_n_layer(void *model)',
  llama_model_n_embd_out: 'int32 llama_model_n_embd_out(void *model)',
  llama_model_n_cls_out: 'uint32 llama_model_n_cls_out(void *model)',
  llama_model_is_recurrent: 'bool llama_model_is_recurrent(void *model)',
  llama_model_is_hybrid: 'bool llama_model_is_hybrid(void *model)',
  llama_model_has_encoder: 'bool llama_model_has_encoder(void *model)',
  llama_model_meta_val_str:
    'int32 llama_model_meta_val_str(void *model, const char *key, void *buffer, size_t size)',
  llama_memory_seq_rm: 'bool llama_memory_seq_rm(void *memory, int32 row, int32 from, int32 to)',
  llama_memory_seq_cp:
    'void llama_memory_seq_cp(void *memory, int32 source, int32 target, int32 from, int32 to)',
  llama_decode: 'int32 llama_decode(void *context, llama_batch batch)',
  llama_set_abort_callback: 'void llama_set_abort_callback(void *context, void *callback, void *data)',
  llama_set_n_threads: 'void llama_set_n_threads(void *context, int32 threads, int32 batch_threads)',
  llama_get_logits_ith: 'void *llama_get_logits_ith(void *context, int32 i)',
  llama_get_embeddings_ith: 'void *llama_get_embeddings_ith(void *context, int32 i)',
  llama_get_embeddings_seq: 'void *llama_get_embeddings_seq(void *context, int32 row)',
  llama_vocab_type: 'int32 llama_vocab_type(void *vocab)',
  llama_vocab_n_tokens: 'int32 llama_vocab_n_tokens(void *vocab)',
  llama_vocab_get_text: 'const char *llama_vocab_get_text(void *vocab, int32 token)',
  llama_vocab_get_attr: 'int32 llama_vocab_get_attr(void *vocab, int32 token)',
  llama_vocab_is_eog: 'bool llama_vocab_is_eog(void *vocab, int32 token)',
  llama_vocab_get_add_bos: 'bool llama_vocab_get_add_bos(void *vocab)',
  llama_vocab_get_add_eos: 'bool llama_vocab_get_add_eos(void *vocab)',
  llama_vocab_get_add_sep: 'bool llama_vocab_get_add_sep(void *vocab)',
  llama_vocab_bos: 'int32 llama_vocab_bos(void *vocab)',
  llama_vocab_eos: 'int32 llama_vocab_eos(void *vocab)',
  llama_vocab_eot: 'int32 llama_vocab_eot(void *vocab)',
  llama_vocab_sep: 'int32 llama_vocab_sep(void *vocab)',
  llama_vocab_pad: 'int32 llama_vocab_pad(void *vocab)',
  llama_vocab_mask: 'int32 llama_vocab_mask(void *vocab)',
  llama_vocab_nl: 'int32 llama_vocab_nl(void *vocab)',
  llama_tokenize:
    'int32 llama_tokenize(void *vocab, void *text, int32 length, void *tokens, int32 most, bool special, bool parse)',
  llama_token_to_piece:
    'int32 llama_token_to_piece(void *vocab, int32 token, void *buffer, int32 length, int32 lstrip, bool special)',
} as const;

/** Functions of ggml. */
export const GGML_FUNCTIONS = {
  ggml_backend_load_all_from_path: 'void ggml_backend_load_all_from_path(const char *folder)',
  ggml_backend_dev_count: 'size_t ggml_backend_dev_count()',
  ggml_backend_dev_get: 'void *ggml_backend_dev_get(size_t index)',
} as const;

/** Functions of ggml's base library. */
export const GGML_BASE_FUNCTIONS = {
  ggml_backend_dev_name: 'const char *ggml_backend_dev_name(void *device)',
  ggml_backend_dev_description: 'const char *ggml_backend_dev_description(void *device)',
  ggml_backend_dev_type: 'int32 ggml_backend_dev_type(void *device)',
  ggml_backend_dev_memory:
    'void ggml_backend_dev_memory(void *device, _Out_ size_t *free, _Out_ size_t *total)',
  ggml_backend_dev_buffer_type: 'void *ggml_backend_dev_buffer_type(void *device)',
} as const;

type Name = keyof typeof FUNCTIONS | keyof typeof GGML_FUNCTIONS | keyof typeof GGML_BASE_FUNCTIONS;

/** A native function. Its types are those of its signature. */
export interface NativeFunction {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- koffi's own types are any
  (...args: unknown[]): any;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  async(...args: [...unknown[], (error: Error | null, result: any) => void]): void;
}

export type Functions = Readonly<Record<Name, NativeFunction>>;
