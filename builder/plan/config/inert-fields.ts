import { type InertFields, named } from '../../../runtime/models/inert-fields.js';
import { FAMILIES } from '../../../runtime/models/registry.js';
import type { Inert } from './inert.js';
import { INERT_BY_TYPE } from './inert-by-type.js';

/** Fields that change no answer of any type, each group with its reason. */
const INERT: readonly Inert[] = [
  {
    fields: /dropout|_pdrop$|layerdrop$|^drop_(?:path|connect|mlp|conv_encoder)_rate$|droppath/,
    reason: 'regularisation: nothing is dropped outside of training',
  },
  {
    fields:
      /^(?:embedding_)?initializer_|^init_(?:std|xavier_std|device)$|_init_value$|^layerscale_value$|^rescale_prenorm_residual$|^initializer_bias_prior_prob$/,
    reason: 'what weights begin with; the checkpoint holds them, or lacks the layer',
  },
  {
    fields: named('time_step_(?:min|max|floor|rank)', 'router_jitter_noise', 'input_jitter_noise'),
    reason: 'what weights begin with, or noise of training',
  },
  {
    fields:
      /_cost$|loss|^eos_coefficient$|^label_(?:smoothing|noise_ratio)$|^matcher_|^(?:dice|mask|class|no_object|cross_entropy)_weight$|^focal_(?:alpha|gamma)$/,
    reason: 'losses of training',
  },
  {
    fields: named(
      'num_denoising',
      'box_noise_scale',
      'train_num_points',
      'oversample_ratio',
      'importance_sample_ratio',
      'ignore_value',
      'use_focal_loss',
      'freeze_backbone_batch_norms',
      'sparse_pred(?:iction|_ignore_index)',
      'norm_pix_loss',
      'batch_norm_momentum',
      'replace_prob',
      'embedding_fraction',
    ),
    reason: 'training',
  },
  {
    fields: /^mask_(?:time|feature)_|^apply_spec_augment$/,
    reason: 'masks over spectrograms, in training alone',
  },
  {
    fields:
      /^(?:tdnn_|xvector_)|codevector|^(?:contrastive_logits_temperature|num_negatives|num_ctc_classes|num_clusters)$/,
    reason: 'heads for speakers and pretraining',
  },
  {
    fields: named(
      'use_mask_token',
      'num_codebooks_pretraining',
      'posterior_encoder_num_wavenet_layers',
      'spectrogram_bins',
      'decoder_bias_pretraining',
    ),
    reason: 'parts for training',
  },
  {
    fields:
      /^(?:return_dict|output_(?:router_logits|attentions|hidden_states|scores)|use_cache|torchscript|use_bfloat16|tf_legacy_loss|num_logits_to_keep|use_mems_(?:eval|train)|mem_len|reuse_len|same_length|return_dict_in_generate|gradient_checkpointing)$/,
    reason: 'what Python returns or keeps, not what it computes',
  },
  {
    fields: named(
      'pretraining_tp',
      'disable_custom_kernels',
      '(?:mamba_)?chunk_size',
      'chunk_size_feed_forward',
      'deterministic_flash_attn',
      'onnx_export',
      'reorder_and_upcast_attn',
      '(?:scale_)?attention_softmax_in_fp32',
      'residual_in_fp32',
      'slow_but_exact',
      'use_mamba_kernels',
      'attn_impl',
      '_?attn_implementation(?:_internal)?',
      'pad_head_dim_to_multiple_of',
      '_output_attentions',
      'use_memory_efficient_attention',
    ),
    reason: 'how the same numbers are computed',
  },
  {
    fields: named(
      '_name_or_path',
      '_commit_hash',
      'architectures',
      'auto_map',
      'model_type',
      'transformers_version',
      'torch_dtype',
      'dtype',
      'finetuning_task',
      'quantization_config',
      'tokenizer_class',
      'processor_class',
      'unsloth_.*',
      'verbose',
    ),
    reason: 'names, versions and types of stored numbers; read elsewhere, if at all',
  },
  {
    fields: named('id2label', 'label2id', 'num_labels'),
    reason: 'labels, which the server reads',
  },
  {
    fields: named('stage_names', 'out_features', 'out_indices', 'reshape_hidden_states', 'apply_layernorm'),
    reason: 'what another network reads of a backbone; schemas of those read it',
  },
  {
    fields: named('tie_word_embeddings'),
    reason: 'where no schema reads it, the head is the one that the checkpoint holds',
  },
  {
    fields: named(
      '_sliding_window_pattern',
      'max_window_layers',
      'full_attn_idxs',
      'layers_block_type_pattern',
    ),
    reason: 'derived from layer_types, or the reverse, by the class',
  },
  {
    fields: named(
      'hidden_size',
      'num_layers',
      'num_stages',
      'hidden_sizes',
      'embedding_size',
      'num_hidden_layers',
      'num_attention_heads',
      'd_head',
      'n_ctx',
      'true_hidden_size',
      'pooler_hidden_size',
      'image_text_hidden_size',
      'encoder_hidden_size',
      'target_bandwidths',
      'qk_head_dim',
      'num_feat_extract_layers',
      'projection_dim',
      'vocab_size',
      'mask_input_channels',
      'image_embedding_size',
      'backbone_channel_list',
      'backbone_feature_sizes',
      'reassemble_hidden_size',
      'head_dim',
      'patch_size',
      'stride',
      'down_ops',
      'max_position_embeddings',
      'max_source_positions',
      'max_text_len',
      'num_image_tokens',
      'feat_strides',
      'num_channels',
    ),
    reason:
      'where no schema reads it: a size that others determine, or that shapes of weights have to agree with',
  },
  { fields: named('sampling_rate', 'tokens_per_second'), reason: 'rates that the server reads' },
  {
    fields: named('num_nextn_predict_layers', 'eod_token_id', 'cls_token_id'),
    reason: 'read by nothing in inference',
  },
];

/** Where a field stands. */
export interface Place {
  /** Of the model or part that the field belongs to. */
  type: string;
  /** Type of the whole model, and the path of the part with a dot behind each name. */
  within: string;
}

/** Why a field changes no answer there; undefined where it may. */
export function inertReason(field: string, place: Place): string | undefined {
  const shared = [...INERT, ...INERT_BY_TYPE].find(
    ({ fields, types }) => fields.test(field) && (types?.test(place.type) ?? true),
  );
  return (shared ?? ownRow(field, place))?.reason;
}

/** What the family of the model, or of the part, says of the field. */
function ownRow(field: string, { type, within }: Place): InertFields | undefined {
  const stands = (family: string, part: string | undefined) =>
    part === undefined ? type === family : within.startsWith(`${family}.${part}.`);
  return FAMILIES.flatMap(({ modelTypes, inert = [] }) =>
    inert.filter(
      ({ fields, part }) => fields.test(field) && modelTypes.some((family) => stands(family, part)),
    ),
  )[0];
}
