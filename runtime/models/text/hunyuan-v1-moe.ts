import * as z from 'zod';
import { defineFamily } from '../family.js';
import { chosenFeedForward, softmaxChoices } from '../layers/moe.js';
import { gatedFeedForward } from '../layers/swiglu.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { denseConfig, hunyuan } from '../bases/decoder/hunyuan-decoder.js';

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
  const mixed = chosenFeedForward(g, x, (name) => at(`mlp.${name}`), {
    ...{ width, inner, act, choose: (tokens) => softmaxChoices(g, tokens, at('mlp.gate.wg'), size) },
  });
  const shared = gatedFeedForward(g, x, (part) => at(`mlp.shared_mlp.${part}`), { width, inner, act });
  return g.node('Add', [mixed, shared]);
}

/** modeling_hunyuan_v1_moe.py */
export const hunyuanMoe = defineFamily({
  modelTypes: ['hunyuan_v1_moe'],
  config: mixtureConfig,
  ...llamaLike<Mixture>((c) => ({
    ...hunyuan(c),
    feedForward: (g, x, at, layer) => mixture(g, x, at, { c, layer }),
  })),
});
