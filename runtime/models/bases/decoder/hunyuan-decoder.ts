import * as z from 'zod';
import type { RotaryConfig } from '../../layers/rope-frequencies.js';
import { epsilon } from '../../config-fields.js';
import { llamaConfig, llamaSizes, usualSizes } from './llama-config.js';
import type { LlamaLike } from './llama-decoder.js';

export const denseConfig = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 290_943, width: 4096, inner: 11_008, layers: 32, heads: 32 }),
  rms_norm_eps: epsilon.default(1e-5),
  pad_token_id: z.int().nullable().default(0),
});

export type Dense = z.output<typeof denseConfig>;

/** Positions are stretched once and for all where a factor (alpha) stands beside the "dynamic" kind. */
function turns(c: Dense): RotaryConfig {
  const { rope_type: type = c.rope_scaling?.['type'], alpha } = c.rope_scaling ?? {};
  if (type !== 'dynamic' || typeof alpha !== 'number' || alpha === 0) return c;
  const width = llamaSizes(c).headWidth;
  return { ...c, rope_theta: c.rope_theta * alpha ** (width / (width - 2)), rope_scaling: null };
}

export const hunyuan = (c: Dense): LlamaLike => {
  const rotary = turns(c);
  return {
    ...llamaSizes(c),
    ...{ headNorms: 'head', normsTurned: true, rotary: () => rotary },
    names: { queryNorm: 'self_attn.query_layernorm', keyNorm: 'self_attn.key_layernorm' },
  };
};
