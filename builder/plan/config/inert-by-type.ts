import { type Inert, named } from './inert.js';

const CONVOLUTIONAL =
  /^(?:dinov3_|mobile|efficientnet|convnext|swiftformer|poolformer|focalnet|regnet|resnet|levit|segformer|glpn|hgnet)/;
const DETECTORS = /detr|^d_fine|^yolos|table-transformer|grounding-dino|former$/;

/** Fields that change no answer of some types or parts, each group with its reason. */
export const INERT_BY_TYPE: readonly Inert[] = [
  {
    fields: named('mtp_layer_types', 'mtp_mlp_layer_types'),
    types: /^mellum$/,
    reason: 'layers that guess several tokens, whose weights Python ignores',
  },
  {
    fields: named('sinusoidal_pos_embds'),
    types: /^distilbert$/,
    reason: 'what the table of positions begins with; the checkpoint holds it',
  },
  {
    fields: /^auxiliary_|^use_auxiliary_head$|^output_auxiliary_logits$|^add_fpn$|^pool_scales$/,
    types:
      /^(?:beit|upernet|dpt|maskformer|mask2former|deformable_detr|yolos|rt_detr|rt_detr_v2|d_fine|data2vec-vision|segformer)$/,
    reason: 'heads and outputs beside the answer, for training or segments of another class',
  },
  {
    fields: /^summary_|^(?:start|end)_n_top$/,
    types: /^(?:electra|gpt2|xlm|flaubert|xlnet)$/,
    reason: 'heads for choices and spans that are not served; those that are have schemas that read it',
  },
  {
    fields: /^decoder_(?:hidden_size|intermediate_size|num_attention_heads|num_hidden_layers)$/,
    types: /^videomae$/,
    reason: 'the decoder of pretraining',
  },
  {
    fields: named(
      'image_size',
      'encoder_stride',
      'use_pretrained_backbone',
      'backbone_featmap_shape',
      'image_seq_length',
      'num_images',
    ),
    types: new RegExp(
      `${CONVOLUTIONAL.source}|^(?:vit|deit|swin|swinv2|maskformer-swin|donut-swin|dpt|vilt|llava|llava_next|internvl|glm_ocr_vision|detr|maskformer|mask2former|depth_anything|upernet)|${DETECTORS.source}`,
    ),
    reason: 'sizes that the processor says, or that only pretraining reads',
  },
  {
    fields: named('feed_forward_proj'),
    types: /t5$/,
    reason: 'read where dense_act_fn and is_gated_act do not say it',
  },
  {
    fields: named('audio_config'),
    within: /^gemma4\.$/,
    reason: 'the encoder of sounds, which are refused',
  },
  {
    fields: named('attention_bias'),
    within: /^gemma4\.vision_config\./,
    reason: 'the class has no biases, whatever the file says',
  },
  {
    fields:
      /^(?:memory_|mask_downsampler_|multimask_|sigmoid_|enable_|num_maskmem|max_object_pointers|max_cond_frame)/,
    types: /^sam2_video$/,
    reason: 'memory between frames: images are served',
  },
  {
    fields: named('is_decoder', 'add_cross_attention'),
    within: /^vision-encoder-decoder\.decoder\./,
    reason: 'the class sets both for its decoder',
  },
  {
    fields: /^(?:encoder_|backbone|use_timm_backbone$|dilation$|position_embedding_type$)/,
    within: /^maskformer\.decoder_config\./,
    reason: 'the half of DETR that MaskFormer leaves out',
  },
  {
    fields: named('use_bidirectional_attention'),
    within: /^paligemma\.text_config\./,
    reason: 'the class has prompts seen from both sides, whatever the file says',
  },
  {
    fields: named('hidden_activation'),
    types: /^gemma$/,
    reason: 'the network reads hidden_act',
  },
  {
    fields: named('scale_embedding'),
    types: /^(?:whisper|voxtral_encoder|qwen2_audio_encoder|musicgen_decoder)$/,
    reason: 'the class keeps the factor and multiplies nothing with it',
  },
  {
    fields: named('alibi_bias_max', 'max_seq_len'),
    within: /^mpt\./,
    reason: 'the class computes its biases with 8, for the length of the text',
  },
  {
    fields: named('reg_scale', 'up'),
    types: /^d_fine$/,
    reason: 'the checkpoint holds them',
  },
  {
    fields: named('pooler_(?:act|output_size)'),
    types: /^(?:dpt|vivit)$/,
    reason: 'pooled vectors are not served',
  },
  {
    fields: named('use_autobackbone', 'num_key_value_heads'),
    types: /^(?:dpt|gpt_bigcode)$/,
    reason: 'derived from other fields by the class',
  },
  {
    fields: named('scale', 'image_size'),
    types: /^(?:sam_vision_model|sam2_hiera_det_model)$/,
    reason: 'the class computes it, or reads the size that the whole model has',
  },
  {
    fields: named('hidden_act'),
    types: /^gpt_oss$/,
    reason: 'experts have one activation of their own',
  },
  {
    fields: named('mrope_interleaved'),
    types: /^qwen3_vl/,
    reason: 'the class interleaves always',
  },
  { fields: named('median_filter_width'), types: /^whisper$/, reason: 'times of words' },
  {
    fields: named('pos_embed_(?:shift|jitter|rescale)'),
    types: /^dinov3_vit$/,
    reason: 'augmentation of positions, in training alone',
  },
];
