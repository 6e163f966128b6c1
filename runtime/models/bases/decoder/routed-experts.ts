import * as z from 'zod';
import { chosenFeedForward, type Choices } from '../../layers/moe.js';
import { LEAST_SUM, sharesOf, sigmoidScores } from '../../layers/sigmoid-router.js';
import { gatedFeedForward } from '../../layers/swiglu.js';
import { GraphError } from '../../writer/errors.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { isOfVersion5, type library, size } from '../../config-fields.js';

/** Mixtures of DeepSeek's kind: routed experts of a layer, and shared ones that all tokens go through. */

export const count = z.int().min(1).max(1024);

export const routedConfig = {
  n_shared_experts: count,
  moe_intermediate_size: size,
  n_routed_experts: count,
  num_experts_per_tok: count,
  first_k_dense_replace: z.int().min(0).default(0),
  routed_scaling_factor: z.number().default(1),
};

/** Newer families list what their layers are. */
export const listedLayers = { mlp_layer_types: z.array(z.enum(['dense', 'sparse'])).nullish() };

/** True for a layer without experts; without a list the first layers are. */
export const isDense = (
  { mlp_layer_types: types }: z.output<z.ZodObject<typeof listedLayers>>,
  layer: number,
  first = 1,
): boolean => (types ? types[layer] === 'dense' : layer < first);

export type At = (name: string) => string;

export interface RoutedFamily {
  feedForwardBias: boolean;
  choose(g: GraphWriter, tokens: Value, at: At): Choices;
}

type Routed = z.output<z.ZodObject<typeof routedConfig>> & { hidden_size: number; hidden_act: string };

/** Undefined for the first layers, which have one gated layer. */
export const routedFeedForward =
  (c: Routed, { choose, feedForwardBias: bias }: RoutedFamily) =>
  (g: GraphWriter, x: Value, at: At, layer: number): Value | undefined => {
    if (layer < c.first_k_dense_replace) return undefined;
    const { hidden_size: width, hidden_act: act, moe_intermediate_size: inner } = c;
    const named = (name: string) => at(`mlp.${name}`);
    const mixed = chosenFeedForward(g, x, named, {
      ...{ width, act, bias, inner, choose: (tokens) => choose(g, tokens, at) },
    });
    const shared = gatedFeedForward(g, x, (part) => named(`shared_experts.${part}`), {
      ...{ width, act, bias, inner: inner * c.n_shared_experts },
    });
    return g.node('Add', [mixed, shared]);
  };

/** float32 [tokens, groups, experts of a group] of [tokens, experts]. @throws GraphError where they don't part evenly */
export function grouped(
  g: GraphWriter,
  scores: Value,
  { experts, groups }: { experts: number; groups: number },
): Value {
  if (experts % groups === 0) return g.node('Reshape', [scores, g.ints([-1, groups, experts / groups])]);
  throw new GraphError(`config.json: ${experts} experts can't be parted into ${groups} groups`);
}

interface Best {
  /** float32 [tokens, groups, experts of a group] */
  scores: Value;
  /** float32 [tokens, groups] */
  ofGroups: Value;
  experts: number;
  groups: number;
  kept: number;
  /** Experts of other groups are shut out, where their score may be less than zero. */
  shut?: boolean;
}

/** Less than any score. */
const SHUT = -1e30;

/** The scores [tokens, experts] of the best groups; those of others are zero, or less than any. */
export function ofBestGroups(
  g: GraphWriter,
  { scores, ofGroups, experts, groups, kept, shut = false }: Best,
): Value {
  const which = top(g, ofGroups, kept, 1)[1];
  const hot = g.node('OneHot', [which, g.ints([groups], []), g.floats([0, 1])]);
  const isBest = g.node('ReduceMax', [hot, g.ints([1])], { keepdims: 0 });
  const column = g.node('Unsqueeze', [isBest, g.ints([2])]);
  const left = shut
    ? g.node('Where', [g.node('Greater', [column, g.scalar(0)]), scores, g.scalar(SHUT)])
    : g.node('Mul', [scores, column]);
  return g.node('Reshape', [left, g.ints([-1, experts])]);
}

export const top = (g: GraphWriter, x: Value, k: number, axis: number): [Value, Value] =>
  g.nodes('TopK', [x, g.ints([k])], { outputs: 2, attributes: { axis } }) as [Value, Value];

export const times = (g: GraphWriter, x: Value, factor: number): Value =>
  g.node('Mul', [x, g.scalar(factor)]);

/** What a router that scores by sigmoids reads of a configuration. */
export const sigmoidConfig = {
  ...{ n_group: count.default(1), topk_group: count.default(1) },
  norm_topk_prob: z.boolean().default(true),
};

type BySigmoid = Pick<
  Routed,
  'hidden_size' | 'n_routed_experts' | 'num_experts_per_tok' | 'routed_scaling_factor'
> &
  z.output<z.ZodObject<typeof sigmoidConfig>> & {
    /** Name of the layer that scores, below which its correction stands; `mlp.gate` if absent. */
    gate?: string;
    /** As in Best: what newer families have. */
    shut?: boolean;
  };

/** Files of version 5 shut experts of other groups out, where older ones score them zero. One group shuts nobody out. */
export const shutsGroups = (c: z.output<z.ZodObject<typeof library>> & { n_group: number }): boolean =>
  c.n_group > 1 && isOfVersion5(c);

/** Sigmoids and a correction say who computes; the sigmoids alone are the shares. */
export function chooseBySigmoid(g: GraphWriter, tokens: Value, at: At, c: BySigmoid): Choices {
  const { gate = 'mlp.gate', shut = false } = c;
  const [experts, groups] = [c.n_routed_experts, c.n_group];
  if (experts < 2 * groups)
    throw new GraphError('config.json: n_group leaves groups of fewer than two experts');
  const scores = sigmoidScores(g, tokens, { gate: at(gate), width: c.hidden_size, experts });
  const moved = g.node('Add', [scores, g.weight(at(`${gate}.e_score_correction_bias`), [experts])]);
  const byGroup = grouped(g, moved, { experts, groups });
  const ofGroups = g.node('ReduceSum', [top(g, byGroup, 2, 2)[0], g.ints([2])], { keepdims: 0 });
  const left = ofBestGroups(g, {
    scores: byGroup,
    ofGroups,
    experts,
    groups,
    kept: c.topk_group,
    ...(shut && { shut }),
  });
  const which = top(g, left, c.num_experts_per_tok, 1)[1];
  const epsilon = c.norm_topk_prob && LEAST_SUM;
  return {
    experts,
    which,
    weights: sharesOf(g, scores, which, { epsilon, factor: c.routed_scaling_factor }),
  };
}

/** Experts without biases that are chosen so, as DeepSeek 3 and families after it have them. */
export const sigmoidExperts = (c: BySigmoid): RoutedFamily => ({
  feedForwardBias: false,
  choose: (g, tokens, at) => chooseBySigmoid(g, tokens, at, c),
});
