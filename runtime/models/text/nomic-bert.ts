import * as z from 'zod';
import { textHeads, type TextModel } from '../bases/encoder/encoder-heads.js';
import { rotaryEncoder, rotaryEncoderConfig } from '../bases/encoder/rotary-encoder.js';
import { epsilon, layers, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { gatedFeedForward } from '../layers/swiglu.js';

const off = (what: string) => z.literal([false, null], `${what} is not known`).optional();

const config = z.object({
  ...rotaryEncoderConfig,
  ...{ vocab_size: size.default(30_528), type_vocab_size: size.default(2) },
  ...{ hidden_size: size.default(768), intermediate_size: size.default(3072) },
  ...{ num_hidden_layers: layers.default(12), num_attention_heads: size.default(12) },
  hidden_act: z.string().default('silu'),
  layer_norm_eps: epsilon.default(1e-12),
  max_position_embeddings: size.default(2048),
  rope_theta: z.number().positive().default(1000),
  // Fields of its makers' files, whose code knows other networks, too.
  activation_function: z.enum(['swiglu', 'geglu'], 'other layers than gated ones are not known').optional(),
  rotary_emb_fraction: z.literal(1, 'heads that are turned in part are not known').optional(),
  rotary_scaling_factor: z.null('positions that are stretched are not known').optional(),
  ...{ rotary_emb_interleaved: off('the turning of neighbours'), prenorm: off('a norm before each part') },
  ...{ causal: off('a mask of what comes before'), use_rms_norm: off('RMSNorm') },
  ...{ qkv_proj_bias: off('a bias'), mlp_fc1_bias: off('a bias'), mlp_fc2_bias: off('a bias') },
  parallel_block: off('feed-forward beside attention'),
  moe_every_n_layers: z.literal([0, null], 'a mixture of experts is not known').optional(),
});
type Config = z.output<typeof config>;

/** Gates are the second of both layers. */
const NAMES = { gate: 'fc12', up: 'fc11', down: 'fc2' };
const ACTIVATIONS = { swiglu: 'silu', geglu: 'gelu' };

const modelOf = (c: Config): TextModel => ({
  ...{ width: c.hidden_size, vocabulary: c.vocab_size, labels: 0 },
  states: (g) =>
    rotaryEncoder(g, c, {
      ...{ prefix: '', norm: 'emb_ln', layer: 'encoder.layers', bias: false },
      names: { all: 'attn.Wqkv', output: 'attn.out_proj', norms: ['norm1', 'norm2'] },
      feedForward: (_, x, at) =>
        gatedFeedForward(g, x, (name) => at(`mlp.${name}`), {
          ...{ width: c.hidden_size, inner: c.intermediate_size, names: NAMES },
          act: c.activation_function ? ACTIVATIONS[c.activation_function] : c.hidden_act,
        }),
    }),
});

/** Rotary positions, gated layers, norms behind both. modeling_nomic_bert.py, whose files keep the names of its makers */
export const nomicBert = defineFamily({
  modelTypes: ['nomic_bert'],
  config,
  prefixes: ['bert.'],
  heads: { embedding: textHeads(modelOf).embedding! },
});
