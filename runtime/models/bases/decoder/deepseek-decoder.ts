import type * as z from 'zod';
import { latentAttention, latentConfig, latentHeadWidth } from '../../layers/latent-attention.js';
import { GraphError } from '../../writer/errors.js';
import { llamaConfig, llamaSizes } from './llama-config.js';
import type { LlamaLike } from './llama-decoder.js';
import { count, routedConfig, type RoutedFamily, routedFeedForward } from './routed-experts.js';

export const deepseekConfig = {
  ...llamaConfig,
  ...latentConfig,
  ...routedConfig,
  ...{ n_group: count.nullable().default(null), topk_group: count.nullable().default(null) },
};

type Deepseek = z.output<z.ZodObject<typeof deepseekConfig>>;

type Latent = z.output<z.ZodObject<typeof llamaConfig & typeof latentConfig>>;

interface LatentFamily {
  /** Of scores, beside 1 / sqrt(width of queries). */
  scale: number;
  interleaved: boolean;
  /** As in LlamaLike. */
  queryGrowth?: LlamaLike['queryGrowth'];
}

/** A decoder with latent attention and one gated layer behind it. */
export function latentModel(c: Latent, family: LatentFamily): LlamaLike {
  const heads = c.num_attention_heads;
  if ((c.num_key_value_heads ?? heads) !== heads)
    throw new GraphError('config.json: num_key_value_heads other than num_attention_heads are not known');
  const width = c.hidden_size;
  const bias = c.attention_bias === true;
  const scale = (c.qk_nope_head_dim + c.qk_rope_head_dim) ** -0.5 * family.scale;
  return {
    ...llamaSizes({ ...c, head_dim: latentHeadWidth(c) }),
    keyHeads: heads,
    bias: {},
    attend: (g, x, inputs, { layer, at }) =>
      latentAttention(g, x, inputs, {
        ...{ ...c, layer, width, heads, bias, scale, rotary: c, interleaved: family.interleaved },
        queryGrowth: family.queryGrowth,
        at: (name) => at(`self_attn.${name}`),
      }),
  };
}

export const deepseekModel = (c: Deepseek, family: LatentFamily & RoutedFamily): LlamaLike => ({
  ...latentModel(c, family),
  bias: { feedForward: family.feedForwardBias },
  feedForward: routedFeedForward(c, family),
});

/** What long texts do to scores beside the angles of their positions ("yarn"). */
export function longScale({ rope_scaling: scaling }: Pick<Latent, 'rope_scaling'>): number {
  const [all, factor] = [scaling?.['mscale_all_dim'], scaling?.['factor']].map(Number) as [number, number];
  if (!all || !(factor > 1)) return 1;
  return (0.1 * all * Math.log(factor) + 1) ** 2;
}
