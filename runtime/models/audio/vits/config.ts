import * as z from 'zod';
import { hifiGanConfig } from '../../layers/hifi-gan.js';
import { epsilon, layers, size } from '../../config-fields.js';

const few = z.int().min(1).max(256);
const scale = z.number().min(0).max(1000);
/** Of a convolution that keeps the length of what it reads. */
const odd = few.refine((kernel) => kernel % 2 === 1, 'kernels of even size are not known');

export const vitsConfig = z
  .object({
    ...hifiGanConfig,
    ...{ vocab_size: size.default(38), hidden_size: size.default(192), num_hidden_layers: layers.default(6) },
    ...{ num_attention_heads: few.default(2), window_size: few.nullable().default(4) },
    ...{ use_bias: z.boolean().default(true), ffn_dim: size.default(768), ffn_kernel_size: few.default(3) },
    ...{ hidden_act: z.string().default('relu'), layer_norm_eps: epsilon.default(1e-5) },
    flow_size: size.refine((width) => width % 2 === 0, 'flows halve it').default(192),
    use_stochastic_duration_prediction: z.boolean().default(true),
    num_speakers: size.default(1),
    speaker_embedding_size: z.int().min(0).max(65536).default(0),
    // Flows of durations start from two channels of noise.
    depth_separable_channels: z.literal(2, 'flows of other than two channels are not known').default(2),
    depth_separable_num_layers: z.int().min(1).max(16).default(3),
    duration_predictor_flow_bins: z.int().min(2).max(1000).default(10),
    duration_predictor_tail_bound: z.number().gt(0).max(1000).default(5),
    duration_predictor_kernel_size: odd.default(3),
    duration_predictor_num_flows: z.int().min(0).max(64).default(4),
    duration_predictor_filter_channels: size.default(256),
    prior_encoder_num_flows: z.int().min(0).max(64).default(4),
    prior_encoder_num_wavenet_layers: z.int().min(1).max(64).default(4),
    wavenet_kernel_size: odd.default(5),
    wavenet_dilation_rate: few.default(1),
    speaking_rate: z.number().gt(1e-6).max(1e6).default(1),
    ...{ noise_scale: scale.default(0.667), noise_scale_duration: scale.default(0.8) },
  })
  .refine((c) => c.num_speakers === 1 || c.speaker_embedding_size > 0, {
    ...{ message: 'several voices need vectors', path: ['speaker_embedding_size'] },
  });

export type VitsConfig = z.output<typeof vitsConfig>;
