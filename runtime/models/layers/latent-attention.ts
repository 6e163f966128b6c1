import * as z from 'zod';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { cachedAttention } from './cached-attention.js';
import type { DecoderInputs } from './decoder-inputs.js';
import { linear } from './linear.js';
import { rmsNorm } from './norm.js';
import { positionGrowth } from './position-growth.js';
import { rotary, rotate } from './rope.js';
import type { RotaryConfig } from './rope-frequencies.js';

/** Attention whose keys and values are made of a narrow vector of each token (MLA). */

/** Width of a narrow vector, or of a part of a head. */
export const rank = z.int().min(1).max(65_536);

export const latentConfig = {
  ...{ kv_lora_rank: rank.default(512), q_lora_rank: rank.nullable().default(1536) },
  ...{
    qk_rope_head_dim: rank.default(64),
    qk_nope_head_dim: rank.default(128),
    v_head_dim: rank.default(128),
  },
};

export interface LatentAttention extends z.output<z.ZodObject<typeof latentConfig>> {
  layer: number;
  /** Of the states. */
  width: number;
  heads: number;
  /** Of the projections to narrow vectors, and back to the states. */
  bias: boolean;
  /** Of scores. */
  scale: number;
  /** Undefined where heads are not turned. */
  rotary: RotaryConfig | undefined;
  interleaved: boolean;
  /** Queries grow with their positions, as in LlamaLike. */
  queryGrowth?: { beta: number; length: number } | undefined;
}

/** The cache holds keys and values of one width, that of the wider of both; what is missing are zeros. */
export const latentHeadWidth = (c: z.output<z.ZodObject<typeof latentConfig>>): number =>
  Math.max(c.qk_nope_head_dim + c.qk_rope_head_dim, c.v_head_dim);

/** RMSNorms of narrow vectors have Python's default. */
const EPSILON = 1e-6;

/** float32 [rows, tokens, width] of both. @param at name of a tensor */
export function latentAttention(
  g: GraphWriter,
  x: Value,
  inputs: DecoderInputs,
  { at, ...c }: LatentAttention & { at: (name: string) => string },
): Value {
  const {
    heads,
    kv_lora_rank: rank,
    qk_rope_head_dim: turned,
    qk_nope_head_dim: plain,
    v_head_dim: given,
  } = c;
  const whole = latentHeadWidth(c);
  const angles = c.rotary && rotary(g, inputs.positions, c.rotary, turned);
  const byHead = (value: Value, size: number) => g.node('Reshape', [value, g.ints([0, 0, heads, size])]);
  const byCount = (value: Value, count: number) => g.node('Reshape', [value, g.ints([0, 0, count, turned])]);
  const turn = (value: Value, count: number) => {
    if (!angles) return byCount(value, count);
    const flat = g.node('Reshape', [value, g.ints([0, 0, count * turned])]);
    const found = rotate(g, flat, angles, { heads: count, width: turned, interleaved: c.interleaved });
    return byCount(found, count);
  };
  const parted = (value: Value, sizes: readonly [number, number]) =>
    g.nodes('Split', [value, g.ints(sizes)], { outputs: 2, attributes: { axis: -1 } }) as [Value, Value];
  const filled = (value: Value, size: number) => {
    const pads = g.ints([0, 0, 0, 0, 0, 0, 0, whole - size]);
    const wide = size === whole ? value : g.node('Pad', [value, pads]);
    return g.node('Reshape', [wide, g.ints([0, 0, heads * whole])]);
  };

  const [queryPlain, queryTurned] = parted(byHead(queriesOf(g, x, at, c), plain + turned), [plain, turned]);
  const narrow = linear(g, x, at('kv_a_proj_with_mqa'), { from: c.width, to: rank + turned, bias: c.bias });
  const [latent, keyTurned] = parted(narrow, [rank, turned]);
  const normed = rmsNorm(g, latent, at('kv_a_layernorm'), { width: rank, epsilon: EPSILON });
  const both = linear(g, normed, at('kv_b_proj'), { from: rank, to: heads * (plain + given), bias: false });
  const [keyPlain, value] = parted(byHead(both, plain + given), [plain, given]);
  const shared = g.node('Expand', [turn(keyTurned, 1), g.ints([1, 1, heads, 1])]);
  const joined = (a: Value, b: Value) => filled(g.node('Concat', [a, b], { axis: -1 }), plain + turned);
  const grown = (query: Value) =>
    c.queryGrowth ? g.node('Mul', [query, positionGrowth(g, inputs.positions, c.queryGrowth)]) : query;
  const attended = cachedAttention(
    g,
    inputs,
    {
      query: grown(joined(queryPlain, turn(queryTurned, heads))),
      key: joined(keyPlain, shared),
      value: filled(value, given),
    },
    { layer: c.layer, heads, keyHeads: heads, width: whole, scale: c.scale, mask: inputs.mask() },
  );
  const [found] = given === whole ? [attended] : parted(byHead(attended, whole), [given, whole - given]);
  const flat = g.node('Reshape', [found, g.ints([0, 0, heads * given])]);
  return linear(g, flat, at('o_proj'), { from: heads * given, to: c.width, bias: c.bias });
}

/** By way of a narrow vector, too, or at once. */
function queriesOf(g: GraphWriter, x: Value, at: (name: string) => string, c: LatentAttention): Value {
  const to = c.heads * (c.qk_nope_head_dim + c.qk_rope_head_dim);
  const rank = c.q_lora_rank;
  if (rank === null) return linear(g, x, at('q_proj'), { from: c.width, to, bias: false });
  const narrow = linear(g, x, at('q_a_proj'), { from: c.width, to: rank, bias: c.bias });
  const normed = rmsNorm(g, narrow, at('q_a_layernorm'), { width: rank, epsilon: EPSILON });
  return linear(g, normed, at('q_b_proj'), { from: rank, to, bias: false });
}
