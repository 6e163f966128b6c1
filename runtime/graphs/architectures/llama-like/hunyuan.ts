import * as z from 'zod';
import { defineArchitecture } from '../../architecture.js';
import { expertsSum, overTokens, softmaxChoices } from '../../blocks/experts.js';
import { gatedFeedForward } from '../../blocks/gated-feed-forward.js';
import type { RotaryConfig } from '../../blocks/rotary-frequencies.js';
import { GraphError } from '../../errors.js';
import type { GraphWriter, Value } from '../../graph-writer.js';
import { epsilon } from '../config.js';
import { llamaConfig, llamaSizes, usualSizes } from './config.js';
import { type LlamaLike, llamaLike } from './llama-like.js';

const denseConfig = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 290_943, width: 4096, inner: 11_008, layers: 32, heads: 32 }),
  rms_norm_eps: epsilon.default(1e-5),
  pad_token_id: z.int().nullable().default(0),
});
type Dense = z.output<typeof denseConfig>;

/** Positions are stretched once and for all where a factor (alpha) stands beside the "dynamic" kind. */
function turns(c: Dense): RotaryConfig {
  const { rope_type: type = c.rope_scaling?.['type'], alpha } = c.rope_scaling ?? {};
  if (type !== 'dynamic' || typeof alpha !== 'number' || alpha === 0) return c;
  const width = llamaSizes(c).headWidth;
  return { ...c, rope_theta: c.rope_theta * alpha ** (width / (width - 2)), rope_scaling: null };
}

const hunyuan = (c: Dense): LlamaLike => {
  const rotary = turns(c);
  return {
    ...llamaSizes(c),
    ...{ headNorms: 'head', normsTurned: true, rotary: () => rotary },
    names: { queryNorm: 'self_attn.query_layernorm', keyNorm: 'self_attn.key_layernorm' },
  };
};

/** Norms of queries and keys stand behind the turn. modeling_hunyuan_v1_dense.py */
export const hunyuanDense = defineArchitecture({
  modelTypes: ['hunyuan_v1_dense'],
  config: denseConfig,
  ...llamaLike<Dense>(hunyuan),
});

const count = z.int().min(1).max(1024);
const byLayer = z.union([count, z.array(count)]);

const mixtureConfig = denseConfig.extend({ num_experts: byLayer.default(1), moe_topk: byLayer.default(1) });
type Mixture = z.output<typeof mixtureConfig>;

function countOf(given: number | readonly number[], layer: number): number {
  const found = typeof given === 'number' ? given : given[layer];
  if (found !== undefined) return found;
  throw new GraphError('config.json: num_experts and moe_topk leave out layers');
}

function mixture(
  g: GraphWriter,
  x: Value,
  at: (name: string) => string,
  { c, layer }: { c: Mixture; layer: number },
) {
  const { hidden_size: width, intermediate_size: inner, hidden_act: act } = c;
  const size = { width, experts: countOf(c.num_experts, layer), chosen: countOf(c.moe_topk, layer) };
  const one = (fed: Value, name: string) =>
    gatedFeedForward(g, fed, (part) => at(`mlp.${name}.${part}`), { width, inner, act });
  const mixed = overTokens(g, x, width, (tokens) =>
    expertsSum(g, tokens, softmaxChoices(g, tokens, at('mlp.gate.wg'), size), {
      ...{ width, compute: (fed, expert) => one(fed, `experts.${expert}`) },
    }),
  );
  return g.node('Add', [mixed, one(x, 'shared_mlp')]);
}

/** modeling_hunyuan_v1_moe.py */
export const hunyuanMoe = defineArchitecture({
  modelTypes: ['hunyuan_v1_moe'],
  config: mixtureConfig,
  ...llamaLike<Mixture>((c) => ({
    ...hunyuan(c),
    feedForward: (g, x, at, layer) => mixture(g, x, at, { c, layer }),
  })),
});
