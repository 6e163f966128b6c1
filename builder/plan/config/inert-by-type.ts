import { named } from '../../../runtime/models/inert-fields.js';
import type { Inert } from './inert.js';

const CONVOLUTIONAL =
  /^(?:dinov3_|mobile|efficientnet|convnext|swiftformer|poolformer|focalnet|regnet|resnet|levit|segformer|glpn|hgnet)/;
const DETECTORS = /detr|^d_fine|^yolos|table-transformer|grounding-dino|former$/;

/** Fields that change no answer of several families or of parts that are none, each group with its reason. */
export const INERT_BY_TYPE: readonly Inert[] = [
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
    fields: named('scale_embedding'),
    types: /^(?:whisper|voxtral_encoder|qwen2_audio_encoder|musicgen_decoder)$/,
    reason: 'the class keeps the factor and multiplies nothing with it',
  },
  {
    fields: named('pooler_(?:act|output_size)'),
    types: /^(?:dpt|vivit)$/,
    reason: 'pooled vectors are not served',
  },
  {
    fields: named('use_autobackbone'),
    types: /^dpt$/,
    reason: 'derived from other fields by the class',
  },
  {
    fields: named('scale', 'image_size'),
    types: /^(?:sam(?:_hq)?_vision_model|sam2_hiera_det_model)$/,
    reason: 'the class computes it, or reads the size that the whole model has',
  },
  {
    fields: named('mrope_interleaved'),
    types: /^qwen3_vl/,
    reason: 'the class interleaves always',
  },
];
