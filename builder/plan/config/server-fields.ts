/**
 * Fields of config.json that the server reads when it answers, beside those that graphs are made of: settings of generation
 * where there is no generation_config.json, tokens that stand for media, kinds of labels.
 */
const GENERATION =
  /^(?:max_length|min_length|max_new_tokens|do_sample|early_stopping|num_beams|num_beam_groups|diversity_penalty|temperature|top_k|top_p|typical_p|repetition_penalty|length_penalty|no_repeat_ngram_size|encoder_no_repeat_ngram_size|bad_words_ids|num_return_sequences|forced_(?:bos|eos)_token_id|forced_decoder_ids|remove_invalid_values|exponential_decay_length_penalty|(?:begin_)?suppress_tokens|decoder_start_token_id|force_bos_token_to_be_generated|task_specific_params|prefix)$/;

const TOKENS = /_token_(?:id|index|type_id)$|^_pad_token_id$|^lang(?:uage)?_|_to_id$/;

const TASKS =
  /^(?:problem_type|is_encoder_decoder|vision_aspect_ratio|image_grid_pinpoints|visual_indicator_token_ids|sentence_.*|use_attention_mask|relative_attention_.*|task_specific_.*)$/;

export const isServerField = (name: string): boolean =>
  GENERATION.test(name) || TOKENS.test(name) || TASKS.test(name);
