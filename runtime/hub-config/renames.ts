const GRANITE_SPEECH = {
  ...{ hidden_size: 'hidden_dim', num_hidden_layers: 'num_layers' },
  ...{ num_attention_heads: 'num_heads', num_mel_bins: 'input_dim' },
};

/**
 * Fields of config.json that the two versions of transformers, or families, have several names for, by `model_type`:
 * name -> the one that schemas read. Where a file has both, the name on the left counts.
 */
export const FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  qwen3_moe: { num_local_experts: 'num_experts' },
  qwen3_vl_moe_text: { num_local_experts: 'num_experts' },
  nomic_bert: {
    ...{ n_embd: 'hidden_size', n_inner: 'intermediate_size', n_layer: 'num_hidden_layers' },
    ...{ n_head: 'num_attention_heads', n_positions: 'max_position_embeddings' },
    ...{ layer_norm_epsilon: 'layer_norm_eps', rotary_emb_base: 'rope_theta' },
  },
  kimi_linear: {
    ...{ model_max_length: 'max_position_embeddings', moe_renormalize: 'norm_topk_prob' },
    ...{ num_expert_group: 'n_group', num_local_experts: 'num_experts' },
    ...{ num_experts_per_token: 'num_experts_per_tok', n_shared_experts: 'num_shared_experts' },
  },
  nemotron_h: {
    ...{ layer_types: 'layers_block_type', num_local_experts: 'n_routed_experts' },
    ...{ mamba_n_groups: 'n_groups', mamba_d_conv: 'conv_kernel', mamba_conv_bias: 'use_conv_bias' },
    mamba_dt_min: 'time_step_min',
  },
  hy_v3: { num_local_experts: 'num_experts' },
  mistral4: { num_local_experts: 'n_routed_experts' },
  exaone: {
    ...{ num_layers: 'num_hidden_layers', layer_norm_epsilon: 'rms_norm_eps' },
    activation_function: 'hidden_act',
  },
  internlm3: { qkv_bias: 'attention_bias', bias: 'mlp_bias' },
  mellum: { num_local_experts: 'num_experts', num_mtp_layers: 'num_nextn_predict_layers' },
  sarvam_mla: {
    ...{ num_experts: 'n_routed_experts', num_local_experts: 'n_routed_experts' },
    ...{ num_shared_experts: 'n_shared_experts', num_mtp_layers: 'num_nextn_predict_layers' },
  },
  solar_open: { num_local_experts: 'n_routed_experts' },
  vipllava: { vision_feature_layers: 'vision_feature_layer' },
  videomae: { qv_bias: 'qkv_bias' },
  gpt_neox: { rotary_emb_base: 'rope_theta', rotary_pct: 'partial_rotary_factor' },
  granite_speech_encoder: GRANITE_SPEECH,
  granite_speech_plus_encoder: GRANITE_SPEECH,
  modernbert: { global_rope_theta: 'rope_theta', local_rope_theta: 'rope_local_base_freq' },
  'modernbert-decoder': { global_rope_theta: 'rope_theta', local_rope_theta: 'rope_local_base_freq' },
};

/** Types that parts of a model have in files of version 5: new -> old. */
export const TYPES: Readonly<Record<string, string>> = {
  exaone4_5_text: 'exaone4',
  qwen2_vl_vision: 'qwen2_vl',
  qwen2_5_vl_vision: 'qwen2_5_vl',
  qwen3_vl_vision: 'qwen3_vl',
  qwen3_vl_moe_vision: 'qwen3_vl_moe',
};

/** Words of a list of kinds of layers: new -> old. */
const STATE_LAYERS = { linear_attention: 'mamba', full_attention: 'attention' };
export const LAYER_WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  granitemoehybrid: STATE_LAYERS,
  zamba2: STATE_LAYERS,
  nemotron_h: STATE_LAYERS,
};
