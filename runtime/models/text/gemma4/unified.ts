import * as z from 'zod';
import { size } from '../../config-fields.js';
import { type Gemma4Config, gemma4Config } from './config.js';
import { gemma4Text } from './gemma4.js';

/** No layer reads what tokens say to it, and none has experts. */
const PLAIN = { hidden_size_per_layer_input: 0, enable_moe_block: false };

export const gemma4UnifiedConfig = gemma4Config
  .omit({
    ...{ vocab_size_per_layer_input: true, hidden_size_per_layer_input: true, enable_moe_block: true },
    ...{ num_experts: true, top_k_experts: true, moe_intermediate_size: true },
  })
  .extend({
    ...{ max_position_embeddings: size.default(262_144), sliding_window: z.int().min(1).default(1024) },
    // Of images alone, where it is not of all tokens.
    use_bidirectional_attention: z
      .literal('vision', 'tokens that see those behind them are not known')
      .nullable()
      .default('vision'),
  })
  .transform((c): Gemma4Config => ({ ...c, ...PLAIN, vocab_size_per_layer_input: c.vocab_size }));

/** The language model of Gemma 4 12B. modeling_gemma4_unified.py */
export const gemma4Unified = gemma4Text('gemma4_unified_text', gemma4UnifiedConfig);
