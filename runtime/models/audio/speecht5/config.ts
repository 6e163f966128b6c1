import * as z from 'zod';
import { layers, size } from '../../config-fields.js';
import { isListed, LISTED, waveStepsConfig } from '../../bases/audio/wave-config.js';

/** Of other sizes, frames behind the last convolution would be fewer than those that they are added to. */
const odd = z
  .int()
  .min(1)
  .max(4096)
  .refine((kernel) => kernel % 2 === 1, 'kernels of even size are not known');

export const speecht5Config = z
  .object({
    ...waveStepsConfig,
    ...{
      vocab_size: size.default(81),
      hidden_size: size.default(768),
      hidden_act: z.string().default('gelu'),
    },
    ...{ encoder_layers: layers.default(12), decoder_layers: layers.min(1).default(6) },
    ...{ encoder_attention_heads: size.default(12), decoder_attention_heads: size.default(12) },
    ...{ encoder_ffn_dim: size.default(3072), decoder_ffn_dim: size.default(3072) },
    scale_embedding: z.boolean().default(false),
    encoder_max_relative_position: size.default(160),
    pad_token_id: z.int().min(0).default(1),
    tie_word_embeddings: z.boolean().default(true),
    ...{ num_mel_bins: size.default(80), reduction_factor: z.int().min(1).max(64).default(2) },
    speech_decoder_prenet_layers: layers.min(1).default(2),
    speech_decoder_prenet_units: size.default(256),
    // A share of 1 would be divided by 0.
    speech_decoder_prenet_dropout: z.number().min(0).lt(1).default(0.5),
    speaker_embedding_dim: size.default(512),
    speech_decoder_postnet_layers: layers.default(5),
    speech_decoder_postnet_units: size.default(256),
    speech_decoder_postnet_kernel: odd.default(5),
  })
  .refine(isListed, LISTED);
export type SpeechT5Config = z.output<typeof speecht5Config>;

/** Names of an encoder's tensors, as wav2vec 2.0's steps have them and as they are here. */
export const SPEECHT5_PARTS = {
  'feature_extractor.': ['speecht5.encoder.prenet.feature_encoder.'],
  'feature_projection.': ['speecht5.encoder.prenet.feature_projection.'],
  'encoder.pos_conv_embed.': ['speecht5.encoder.prenet.pos_conv_embed.'],
};
