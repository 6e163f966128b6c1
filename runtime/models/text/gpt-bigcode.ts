import { named } from '../inert-fields.js';
import * as z from 'zod';
import { defineFamily } from '../family.js';
import { decoderHeads } from '../bases/decoder/decoder-heads.js';
import { linear } from '../layers/linear.js';
import { splitGroups, splitRows } from '../layers/fused-projections.js';
import { layers, size } from '../config-fields.js';
import { gpt2Config, decoderOf } from './gpt2.js';

const bigcodeConfig = gpt2Config.extend({
  vocab_size: size.default(50_257),
  ...{ n_embd: size.default(768), n_layer: layers.default(12), n_head: size.default(12) },
  activation_function: z.string().default('gelu_pytorch_tanh'),
  // Of GPT-2 alone, whatever a configuration says.
  scale_attn_by_inverse_layer_idx: z.unknown().optional(),
  multi_query: z.boolean().default(true),
});

/** All heads share keys and values, or each has its own beside its queries. modeling_gpt_bigcode.py */
export const gptBigcode = defineFamily({
  modelTypes: ['gpt_bigcode'],
  inert: [{ fields: named('num_key_value_heads'), reason: 'the class derives it from multi_query' }],
  readers: { positions: 'learned' },
  config: bigcodeConfig,
  prefixes: ['transformer.'],
  heads: decoderHeads((c: z.output<typeof bigcodeConfig>) =>
    decoderOf(
      { ...c, scale_attn_by_inverse_layer_idx: false },
      c.multi_query
        ? { dense: linear, keyHeads: 1, split: splitRows }
        : { dense: linear, keyHeads: c.n_head, split: splitGroups },
    ),
  ),
});
