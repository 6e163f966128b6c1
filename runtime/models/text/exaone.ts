import * as z from 'zod';
import { llamaConfig, usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { epsilon, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { layerEndings } from '../writer/weights.js';
import { llamaOf } from './llama.js';

const config = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 102_400, width: 4096, inner: 14_336, layers: 32, heads: 32 }),
  rope_theta: z.number().positive().default(500_000),
  num_key_value_heads: size.nullable().default(8),
  max_position_embeddings: size.default(4096),
  rms_norm_eps: epsilon.default(1e-5),
  pad_token_id: z.int().nullable().default(0),
  mlp_bias: z.boolean().default(false),
});

/** Names of tensors in files, which transformers 5 keeps, by Llama's. */
const STORED = {
  'model.embed_tokens.weight': 'transformer.wte.weight',
  'model.norm.weight': 'transformer.ln_f.weight',
  'input_layernorm.weight': 'ln_1.weight',
  'post_attention_layernorm.weight': 'ln_2.weight',
  ...layerEndings({
    ...{ 'self_attn.q_proj': 'attn.attention.q_proj', 'self_attn.k_proj': 'attn.attention.k_proj' },
    ...{ 'self_attn.v_proj': 'attn.attention.v_proj', 'self_attn.o_proj': 'attn.attention.out_proj' },
    ...{ 'mlp.gate_proj': 'mlp.c_fc_0', 'mlp.up_proj': 'mlp.c_fc_1', 'mlp.down_proj': 'mlp.c_proj' },
  }),
};

/** Llama under other names. configuration_exaone.py */
export const exaone = defineFamily({
  modelTypes: ['exaone'],
  config,
  older: STORED,
  parts: { 'model.layers.': ['model.layers.', 'transformer.h.'] },
  ...llamaLike<z.output<typeof config>>(llamaOf),
});
