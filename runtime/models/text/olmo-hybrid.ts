import * as z from 'zod';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { type LayerNames, llamaLike } from '../bases/decoder/llama-decoder.js';
import { size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import type { DecoderInputs } from '../layers/decoder-inputs.js';
import {
  attendingCount,
  attendingLayers,
  attends,
  type DeltaLayer,
  type DeltaNet,
  deltaNet,
  hasAttention,
} from '../layers/delta-net.js';
import { linear } from '../layers/linear.js';
import type { RotaryConfig } from '../layers/rope-frequencies.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

const count = z.int().min(1).max(65_536);

const config = z
  .object({
    ...llamaConfig,
    ...usualSizes({ vocabulary: 100_352, width: 3840, inner: 11_008, layers: 32, heads: 30 }),
    head_dim: z.null('heads of other widths than hidden_size / num_attention_heads are not known').optional(),
    max_position_embeddings: size.default(65_536),
    // Null where heads are not turned.
    rope_theta: z.number().positive().nullable().default(10_000),
    pad_token_id: z.int().nullable().default(100_277),
    layer_types: attendingLayers.layer_types,
    linear_conv_kernel_dim: z.int().min(2).max(64).default(4),
    ...{ linear_key_head_dim: count.nullish(), linear_value_head_dim: count.nullish() },
    ...{ linear_num_key_heads: count.nullish(), linear_num_value_heads: count.nullish() },
    linear_allow_neg_eigval: z.boolean().default(true),
  })
  .transform((c) => ({ ...c, layer_types: c.layer_types ?? usualLayers(c.num_hidden_layers) }))
  .superRefine((c, context) => hasAttention({ ...c, full_attention_interval: 4 }, context));
type Config = z.output<typeof config>;

/** Every fourth layer attends, and the last one where they are fewer. */
function usualLayers(layers: number): ('full_attention' | 'linear_attention')[] {
  const attendsAt = (i: number) => i % 4 === 3 || (layers < 4 && i === layers - 1);
  return Array.from({ length: layers }, (_, i) => (attendsAt(i) ? 'full_attention' : 'linear_attention'));
}

function deltaSizes(c: Config): DeltaNet {
  const heads = c.num_attention_heads;
  const keyHeads = c.linear_num_key_heads ?? heads;
  const keyWidth = c.linear_key_head_dim ?? Math.floor((0.75 * c.hidden_size) / keyHeads);
  if (keyWidth < 1) throw new GraphError('config.json: linear_num_key_heads leave heads without a width');
  return {
    ...{ ...c, linear_num_key_heads: keyHeads, linear_num_value_heads: c.linear_num_value_heads ?? heads },
    ...{ linear_key_head_dim: keyWidth, linear_value_head_dim: c.linear_value_head_dim ?? 2 * keyWidth },
  };
}

/**
 * Convolutions of queries, keys and values as a file has them. transformers 5 puts them behind each other and saves three equal
 * parts of that, whatever the widths are.
 */
function convolutionsOf(
  g: GraphWriter,
  at: (name: string) => string,
  channels: number,
): DeltaLayer['convolution'] {
  if (g.weights.has(at('conv1d.weight'))) return undefined;
  const parts = ['q_conv1d', 'k_conv1d', 'v_conv1d'].map(
    (name) => [name, g.weights.shapeOf(at(`${name}.weight`))?.[0] ?? 0] as const,
  );
  const all = parts.reduce((sum, [, own]) => sum + own, 0);
  if (all === channels) return parts;
  throw new GraphError(
    `${at('q_conv1d')} and those beside it have ${all} channels, but config.json makes them ${channels}`,
  );
}

/** The class of FLA that the norm is made after has this one. */
const EPSILON = 1e-5;

function associate(
  g: GraphWriter,
  x: Value,
  inputs: DecoderInputs,
  { layer, at: ofLayer, c }: LayerNames & { c: Config },
): Value {
  const at = (name: string) => ofLayer(`linear_attn.${name}`);
  const sizes = deltaSizes(c);
  const keys = sizes.linear_num_key_heads * sizes.linear_key_head_dim;
  const heads = sizes.linear_num_value_heads;
  const values = heads * sizes.linear_value_head_dim;
  const project = (name: string, to: number, isExact = false) =>
    linear(g, x, at(`${name}_proj`), { from: c.hidden_size, to, bias: false, isExact });
  const mixed = g.node('Concat', [project('q', keys), project('k', keys), project('v', values)], {
    axis: -1,
  });
  const projected = {
    ...{ mixed, gate: project('g', values) },
    ...{ share: project('b', heads, true), steps: project('a', heads, true) },
  };
  return deltaNet(g, inputs, projected, {
    ...{ layer, at, c: sizes, epsilon: EPSILON, names: { norm: 'o_norm', output: 'o_proj' } },
    ...(c.linear_allow_neg_eigval && { most: 2 }),
    convolution: convolutionsOf(g, at, 2 * keys + values),
  });
}

/** Heads are not turned where a file says that theta is null. */
const rotaryOf = ({ rope_theta: theta, ...c }: Config): RotaryConfig | undefined =>
  theta === null ? undefined : { ...c, rope_theta: theta };

/**
 * Most layers learn associations, their norms before them; those of OLMo 2 attend, their norms behind them.
 * modeling_olmo_hybrid.py
 */
export const olmoHybrid = defineFamily({
  modelTypes: ['olmo_hybrid'],
  memory: { keyLayers: (c: Config) => attendingCount({ ...c, full_attention_interval: 4 }) },
  config,
  older: {
    'input_layernorm.weight': 'attention_layer_norm.weight',
    'post_attention_layernorm.weight': 'feedforward_layer_norm.weight',
  },
  ...llamaLike<Config>((c) => {
    const isFull = (layer: number) => attends({ ...c, full_attention_interval: 4 }, layer);
    return {
      ...llamaSizes({ ...c, rope_theta: c.rope_theta ?? 1 }),
      rotary: () => rotaryOf(c),
      headNorms: 'whole',
      norms: (layer) => (isFull(layer) ? 'after' : 'before'),
      attend: (g, x, inputs, of) => (isFull(of.layer) ? undefined : associate(g, x, inputs, { ...of, c })),
    };
  }),
});
