import { unreadFields } from '../../../../builder/plan/config/unread-fields.js';
import { normalizeConfig } from '../../../../runtime/hub-config/normalize.js';

/** What older tools wrote into every configuration, those of parts included. */
const DUMP = {
  ...{ _name_or_path: '', add_cross_attention: false, architectures: null, bad_words_ids: null },
  ...{ bos_token_id: 0, chunk_size_feed_forward: 0, cross_attention_hidden_size: null },
  ...{ decoder_start_token_id: null, diversity_penalty: 0.0, do_sample: false, early_stopping: false },
  ...{ encoder_no_repeat_ngram_size: 0, eos_token_id: 2, exponential_decay_length_penalty: null },
  ...{ finetuning_task: null, forced_bos_token_id: null, forced_eos_token_id: null, is_decoder: false },
  ...{ id2label: { 0: 'LABEL_0' }, label2id: { LABEL_0: 0 }, is_encoder_decoder: false, length_penalty: 1.0 },
  ...{ max_length: 20, min_length: 0, no_repeat_ngram_size: 0, num_beam_groups: 1, num_beams: 1 },
  ...{ num_return_sequences: 1, output_attentions: false, output_hidden_states: false, output_scores: false },
  ...{ pad_token_id: 1, prefix: null, problem_type: null, pruned_heads: {}, remove_invalid_values: false },
  ...{ repetition_penalty: 1.0, return_dict: true, return_dict_in_generate: false, sep_token_id: null },
  ...{ suppress_tokens: null, task_specific_params: null, temperature: 1.0, tf_legacy_loss: false },
  ...{ tie_encoder_decoder: false, tie_word_embeddings: true, tokenizer_class: null, top_k: 50, top_p: 1.0 },
  ...{
    torch_dtype: null,
    torchscript: false,
    transformers_version: '4.21.1',
    typical_p: 1.0,
    use_bfloat16: false,
  },
};

/**
 * Fields of configurations as repositories on the hub have them, the unusual ones above all: what tools of training left,
 * names that classes have given up, and settings that change nothing.
 */
const CONFIGS: Readonly<Record<string, Record<string, unknown>>> = {
  'BERT of 2018': {
    ...{ model_type: 'bert', gradient_checkpointing: false, directionality: 'bidi', type_vocab_size: 2 },
    ...{ pooler_fc_size: 768, pooler_num_attention_heads: 12, pooler_num_fc_layers: 3 },
    ...{ pooler_size_per_head: 128, pooler_type: 'first_token_transform', use_cache: true },
    ...{ position_embedding_type: 'absolute', hidden_dropout_prob: 0.2, classifier_dropout: 0.1 },
  },
  'RoBERTa of fairseq': {
    ...{ model_type: 'roberta', _num_labels: 3, output_past: true, layer_norm_eps: 1e-5 },
    ...{
      bos_token_id: 0,
      eos_token_id: 2,
      pad_token_id: 1,
      type_vocab_size: 1,
      max_position_embeddings: 514,
    },
  },
  'DistilBERT for questions': {
    ...{ model_type: 'distilbert', sinusoidal_pos_embds: true, tie_weights_: true, output_past: true },
    ...{ qa_dropout: 0.1, seq_classif_dropout: 0.2, dim: 768, n_heads: 12, n_layers: 6, hidden_dim: 3072 },
  },
  ALBERT: {
    ...{ model_type: 'albert', down_scale_factor: 1, gap_size: 0, net_structure_type: 0 },
    ...{ num_memory_blocks: 0, layers_to_keep: [], inner_group_num: 1, num_hidden_groups: 1 },
    ...{ classifier_dropout_prob: 0.1, hidden_size: 768, embedding_size: 128, intermediate_size: 3072 },
  },
  ELECTRA: {
    ...{ model_type: 'electra', summary_activation: 'gelu', summary_last_dropout: 0.1 },
    ...{ summary_type: 'first', summary_use_proj: true, embedding_size: 128, vocab_size: 30_522 },
  },
  'DeBERTa v3': {
    ...{ model_type: 'deberta-v2', relative_attention: true, pos_att_type: 'p2c|c2p', position_buckets: 256 },
    ...{ norm_rel_ebd: 'layer_norm', share_att_key: true, max_relative_positions: -1 },
    ...{
      pooler_dropout: 0,
      pooler_hidden_act: 'gelu',
      pooler_hidden_size: 768,
      position_biased_input: false,
    },
    ...{ type_vocab_size: 0, padding_idx: 0 },
  },
  Longformer: {
    ...{ model_type: 'longformer', attention_mode: 'longformer', ignore_attention_mask: false },
    ...{ sep_token_id: 2, attention_window: [512, 512], num_hidden_layers: 2, gradient_checkpointing: false },
  },
  XLNet: {
    ...{
      model_type: 'xlnet',
      attn_type: 'bi',
      bi_data: false,
      clamp_len: -1,
      mem_len: null,
      reuse_len: null,
    },
    ...{
      same_length: false,
      untie_r: true,
      start_n_top: 5,
      end_n_top: 5,
      summary_type: 'last',
      n_token: 32_000,
      vocab_size: 32_000,
    },
    ...{
      summary_activation: 'tanh',
      summary_last_dropout: 0.1,
      summary_use_proj: true,
      use_mems_train: true,
    },
  },
  MPNet: { model_type: 'mpnet', relative_attention_num_buckets: 32, hidden_act: 'gelu' },
  'GPT-2': {
    ...{ model_type: 'gpt2', n_ctx: 1024, resid_pdrop: 0.1, summary_first_dropout: 0.1 },
    ...{ summary_proj_to_labels: true, summary_type: 'cls_index', summary_use_proj: true, _num_labels: 1 },
    ...{ task_specific_params: { 'text-generation': { do_sample: true, max_length: 50 } } },
  },
  'GPT-J': {
    ...{ model_type: 'gptj', rotary: true, rotary_dim: 64, scale_attn_weights: true, n_inner: null },
    ...{ tie_word_embeddings: false, gradient_checkpointing: false, summary_type: 'cls_index' },
  },
  'GPT-Neo': {
    ...{ model_type: 'gpt_neo', attention_layers: ['global', 'local'], window_size: 256, num_layers: 2 },
    ...{ attention_types: [[['global', 'local'], 1]], summary_type: 'cls_index', resid_dropout: 0 },
  },
  Pythia: { model_type: 'gpt_neox', rotary_pct: 0.25, rotary_emb_base: 10_000, use_parallel_residual: true },
  OPT: {
    ...{ model_type: 'opt', prefix: '</s>', _remove_final_layer_norm: false, activation_function: 'relu' },
    ...{ enable_bias: true, layer_norm_elementwise_affine: true, word_embed_proj_dim: 768, layerdrop: 0.0 },
  },
  BLOOM: {
    ...{ model_type: 'bloom', attention_softmax_in_fp32: true, bias_dropout_fusion: true, n_inner: null },
    ...{
      masked_softmax_fusion: true,
      offset_alibi: 100,
      pretraining_tp: 4,
      seq_length: 2048,
      skip_bias_add: true,
    },
    ...{
      skip_bias_add_qkv: false,
      unk_token_id: 0,
      apply_residual_connection_post_layernorm: false,
      n_embed: 1024,
    },
  },
  Falcon: {
    ...{
      model_type: 'falcon',
      alibi: false,
      bias: false,
      multi_query: true,
      new_decoder_architecture: false,
    },
    ...{ parallel_attn: true, apply_residual_connection_post_layernorm: false, hidden_dropout: 0.0 },
  },
  'Llama 3': {
    ...{ model_type: 'llama', pretraining_tp: 1, mlp_bias: false, attention_bias: false, rope_scaling: null },
    ...{
      eos_token_id: [128_001, 128_008],
      rope_theta: 500_000.0,
      unsloth_version: '2024.9',
      unsloth_fixed: true,
    },
  },
  'Mistral of today': { model_type: 'mistral', head_dim: 128, sliding_window: null, rope_theta: 1e6 },
  Mixtral: {
    model_type: 'mixtral',
    output_router_logits: false,
    router_aux_loss_coef: 0.02,
    sliding_window: null,
  },
  'Qwen 2.5': {
    ...{ model_type: 'qwen2', use_mrope: false, use_sliding_window: false, sliding_window: 131_072 },
    ...{ max_window_layers: 70, rope_theta: 1e6 },
  },
  'Qwen 3 with experts': {
    ...{ model_type: 'qwen3_moe', decoder_sparse_step: 1, mlp_only_layers: [], norm_topk_prob: true },
    ...{ num_experts: 128, max_window_layers: 48, router_aux_loss_coef: 0.001, use_sliding_window: false },
  },
  'Phi 3.5': {
    ...{ model_type: 'phi3', auto_map: { AutoConfig: 'c.P' }, attention_bias: false, embd_pdrop: 0.0 },
    ...{ original_max_position_embeddings: 4096, sliding_window: 262_144, _name_or_path: 'Phi-3.5' },
  },
  'Phi 2': {
    model_type: 'phi',
    qk_layernorm: false,
    partial_rotary_factor: 0.4,
    resid_pdrop: 0.1,
    embd_pdrop: 0.0,
  },
  Gemma: { model_type: 'gemma', hidden_act: 'gelu', hidden_activation: 'gelu_pytorch_tanh', head_dim: 256 },
  'Gemma 2': { model_type: 'gemma2', cache_implementation: 'hybrid', query_pre_attn_scalar: 256 },
  'Gemma 3': {
    ...{ model_type: 'gemma3_text', cache_implementation: 'hybrid', sliding_window_pattern: 6 },
    ...{ _sliding_window_pattern: 6, attn_logit_softcapping: null, final_logit_softcapping: null },
  },
  'DeepSeek V2': {
    ...{
      model_type: 'deepseek_v2',
      aux_loss_alpha: 0.001,
      ep_size: 1,
      moe_layer_freq: 1,
      scoring_func: 'softmax',
    },
    ...{
      seq_aux: true,
      topk_method: 'greedy',
      pretraining_tp: 1,
      norm_topk_prob: false,
      n_group: 1,
      topk_group: 1,
    },
  },
  'DeepSeek V3': {
    ...{
      model_type: 'deepseek_v3',
      ep_size: 1,
      moe_layer_freq: 1,
      num_nextn_predict_layers: 1,
      seq_aux: true,
    },
    ...{ scoring_func: 'sigmoid', topk_method: 'noaux_tc', aux_loss_alpha: 0.001, qk_head_dim: 192 },
  },
  'gpt-oss': {
    ...{ model_type: 'gpt_oss', initial_context_length: 4096, experts_per_token: 4, swiglu_limit: 7.0 },
    ...{ router_aux_loss_coef: 0.9, attention_bias: true, hidden_act: 'silu' },
  },
  SmolLM3: {
    model_type: 'smollm3',
    pretraining_tp: 2,
    mlp_bias: false,
    max_window_layers: 28,
    sliding_window: null,
  },
  'Flan-T5': {
    ...{ model_type: 't5', n_positions: 512, output_past: true, dropout_rate: 0.1, is_gated_act: true },
    ...{ dense_act_fn: 'gelu_new', feed_forward_proj: 'gated-gelu', tie_word_embeddings: false },
    ...{ task_specific_params: { summarization: { max_length: 200 } }, initializer_factor: 1.0 },
  },
  'BART for news': {
    ...{ model_type: 'bart', _num_labels: 3, add_bias_logits: false, add_final_layer_norm: false },
    ...{
      classif_dropout: 0.0,
      normalize_before: false,
      normalize_embedding: true,
      save_step: 58,
      prefix: ' ',
    },
    ...{ static_position_embeddings: false, extra_pos_embeddings: 2, force_bos_token_to_be_generated: true },
    ...{ num_hidden_layers: 12, encoder_layers: 12, output_past: true, gradient_checkpointing: false },
  },
  Pegasus: {
    model_type: 'pegasus',
    add_final_layer_norm: true,
    normalize_before: true,
    num_hidden_layers: 16,
    encoder_layers: 16,
  },
  Marian: {
    ...{ model_type: 'marian', add_bias_logits: false, add_final_layer_norm: false, normalize_before: false },
    ...{
      static_position_embeddings: true,
      num_hidden_layers: 6,
      encoder_layers: 6,
      bad_words_ids: [[58_100]],
    },
  },
  Whisper: {
    ...{ model_type: 'whisper', median_filter_width: 7, use_weighted_layer_sum: false, max_length: 448 },
    ...{
      begin_suppress_tokens: [220],
      suppress_tokens: [1],
      forced_decoder_ids: [[1, 50_259]],
      num_hidden_layers: 4,
    },
    ...{ encoder_layers: 4, scale_embedding: false, apply_spec_augment: false, mask_time_prob: 0.05 },
  },
  'wav2vec 2': {
    ...{
      model_type: 'wav2vec2',
      feat_extract_dropout: 0.0,
      gradient_checkpointing: false,
      num_negatives: 100,
    },
    ...{
      feat_proj_dropout: 0.1,
      codevector_dim: 256,
      ctc_loss_reduction: 'mean',
      num_feat_extract_layers: 7,
    },
    ...{ hidden_dropout_prob: 0.1, mask_channel_prob: 0.0, mask_channel_length: 10, adapter_attn_dim: null },
  },
  CLIP: {
    ...{ model_type: 'clip', logit_scale_init_value: 2.6592, projection_dim: 512, initializer_factor: 1.0 },
    text_config: { ...DUMP, model_type: 'clip_text_model', dropout: 0.0, hidden_act: 'quick_gelu' },
    text_config_dict: null,
    vision_config: {
      ...DUMP,
      model_type: 'clip_vision_model',
      dropout: 0.0,
      image_size: 224,
      projection_dim: 768,
    },
    vision_config_dict: null,
  },
  'CLIP with dictionaries': {
    ...{ model_type: 'clip', projection_dim: 768 },
    text_config: { ...DUMP, model_type: 'clip_text_model', hidden_size: 768, projection_dim: 768 },
    text_config_dict: { hidden_size: 768, projection_dim: 768, dropout: 0.0 },
    vision_config: { ...DUMP, model_type: 'clip_vision_model', hidden_size: 1024 },
    vision_config_dict: { hidden_size: 1024 },
  },
  ViT: { model_type: 'vit', encoder_stride: 16, qkv_bias: true, image_size: 224, patch_size: 16 },
  BEiT: {
    model_type: 'beit',
    use_mask_token: false,
    use_mean_pooling: true,
    layer_scale_init_value: 0.1,
    pool_scales: [1, 2, 3, 6],
    auxiliary_channels: 256,
  },
  Swin: {
    model_type: 'swin',
    path_norm: true,
    encoder_stride: 32,
    embed_dim: 96,
    num_layers: 4,
    hidden_size: 768,
    out_features: null,
  },
  SegFormer: {
    model_type: 'segformer',
    downsampling_rates: [1, 4, 8, 16],
    reshape_last_stage: true,
    image_size: 224,
    num_encoder_blocks: 4,
  },
  DETR: {
    ...{ model_type: 'detr', max_position_embeddings: 1024, scale_embedding: false, classifier_dropout: 0.0 },
    ...{
      auxiliary_loss: false,
      dilation: false,
      num_hidden_layers: 6,
      encoder_layers: 6,
      backbone: 'resnet50',
    },
    ...{
      use_pretrained_backbone: true,
      position_embedding_type: 'sine',
      init_xavier_std: 1.0,
      mask_loss_coefficient: 1,
    },
  },
  'DPT of MiDaS': {
    ...{
      model_type: 'dpt',
      expand_channels: false,
      is_hybrid: false,
      neck_ignore_stages: [],
      use_auxiliary_head: true,
    },
    ...{
      backbone_featmap_shape: [1, 1024, 24, 24],
      readout_type: 'project',
      semantic_loss_ignore_index: 255,
    },
  },
  DINOv2: {
    model_type: 'dinov2',
    apply_layernorm: true,
    reshape_hidden_states: true,
    layerscale_value: 1.0,
    stage_names: ['stem'],
    out_features: ['stage12'],
  },
  TrOCR: {
    ...{ model_type: 'vision-encoder-decoder', is_encoder_decoder: true, tie_word_embeddings: false },
    encoder: { ...DUMP, model_type: 'vit', qkv_bias: false, image_size: 384, encoder_stride: 16 },
    decoder: {
      ...{ ...DUMP, model_type: 'trocr', is_decoder: true, add_cross_attention: true },
      ...{ cross_attention_hidden_size: 768, use_learned_position_embeddings: true, scale_embedding: true },
      ...{
        layernorm_embedding: true,
        decoder_layerdrop: 0.0,
        activation_function: 'gelu',
        classifier_dropout: 0.0,
      },
    },
  },
  Donut: {
    ...{ model_type: 'vision-encoder-decoder', is_encoder_decoder: true, processor_class: 'DonutProcessor' },
    encoder: { ...DUMP, model_type: 'donut-swin', path_norm: true, num_layers: 4, hidden_size: 1024 },
    decoder: {
      ...{
        ...DUMP,
        model_type: 'mbart',
        is_decoder: true,
        add_cross_attention: true,
        add_final_layer_norm: true,
      },
      ...{ scale_embedding: true, encoder_layers: 12, decoder_layers: 4, num_hidden_layers: 12 },
    },
  },
  BLIP: {
    ...{
      model_type: 'blip',
      image_text_hidden_size: 256,
      projection_dim: 512,
      logit_scale_init_value: 2.6592,
    },
    text_config: {
      ...DUMP,
      model_type: 'blip_text_model',
      is_decoder: true,
      encoder_hidden_size: 768,
      projection_dim: 768,
      fusion_layer: 6,
    },
    vision_config: {
      ...DUMP,
      model_type: 'blip_vision_model',
      image_size: 384,
      projection_dim: 512,
      num_channels: 3,
    },
  },
  'LLaVA 1.5': {
    ...{ model_type: 'llava', ignore_index: -100, image_token_index: 32_000, pad_token_id: 32_001 },
    ...{
      projector_hidden_act: 'gelu',
      tie_word_embeddings: false,
      vocab_size: 32_064,
      image_seq_length: 576,
    },
    text_config: {
      model_type: 'llama',
      _name_or_path: 'lmsys/vicuna',
      max_position_embeddings: 4096,
      rms_norm_eps: 1e-5,
      torch_dtype: 'float16',
      vocab_size: 32_064,
    },
    vision_config: {
      model_type: 'clip_vision_model',
      projection_dim: 768,
      vocab_size: 32_000,
      image_size: 336,
    },
  },
  'Qwen2-VL': {
    ...{
      model_type: 'qwen2_vl',
      vision_start_token_id: 151_652,
      vision_token_id: 151_654,
      max_window_layers: 28,
    },
    ...{
      hidden_act: 'silu',
      hidden_size: 1536,
      num_attention_heads: 12,
      num_key_value_heads: 2,
      rms_norm_eps: 1e-6,
    },
    ...{
      rope_scaling: { type: 'mrope', mrope_section: [16, 24, 24] },
      sliding_window: 32_768,
      use_sliding_window: false,
    },
    vision_config: {
      depth: 32,
      embed_dim: 1280,
      mlp_ratio: 4,
      num_heads: 16,
      in_chans: 3,
      hidden_size: 1536,
      patch_size: 14,
      spatial_merge_size: 2,
      spatial_patch_size: 14,
      temporal_patch_size: 2,
    },
  },
  PaliGemma: {
    ...{
      model_type: 'paligemma',
      _vocab_size: 257_152,
      bos_token_id: 2,
      image_token_index: 257_152,
      ignore_index: -100,
    },
    ...{ hidden_size: 2048, projection_dim: 2048, pad_token_id: 0 },
    text_config: { model_type: 'gemma', num_image_tokens: 256, torch_dtype: 'float32', vocab_size: 257_216 },
    vision_config: {
      model_type: 'siglip_vision_model',
      num_image_tokens: 256,
      projection_dim: 2048,
      vision_use_head: false,
      projector_hidden_act: 'gelu_fast',
    },
  },
};

describe('configurations as repositories on the hub have them say nothing that is refused', () => {
  test.each(Object.entries(CONFIGS))('%s', (_, config) => {
    expect(unreadFields(normalizeConfig(config), String(config['model_type']))).toEqual([]);
  });

  test('a dictionary that says something else than its part is refused', () => {
    const config = {
      model_type: 'clip',
      text_config: { num_hidden_layers: 2 },
      text_config_dict: { num_hidden_layers: 3 },
    };
    expect(unreadFields(config, 'clip')).toMatchObject([
      { path: 'text_config_dict.num_hidden_layers', value: 3 },
    ]);
  });
});
