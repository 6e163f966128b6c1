import * as z from 'zod';
import { size } from '../config-fields.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { activation } from './activation.js';
import { causalConvolution } from './causal-convolution.js';
import type { DecoderInputs } from './decoder-inputs.js';
import { deltaRule } from './delta-rule.js';
import { linear } from './linear.js';
import { rmsNorm } from './norm.js';

const count = z.int().min(1).max(65_536);

/** Sizes of layers that learn associations, by their names in configurations of Qwen's. */
export const deltaConfig = {
  linear_conv_kernel_dim: z.int().min(2).max(64).default(4),
  ...{ linear_key_head_dim: count.default(128), linear_value_head_dim: count.default(128) },
  ...{ linear_num_key_heads: count.default(16), linear_num_value_heads: count.default(32) },
};

export interface DeltaNet extends z.output<z.ZodObject<typeof deltaConfig>> {
  hidden_size: number;
  hidden_act: string;
  rms_norm_eps: number;
}

/** What a layer's projections make of tokens: float32 [rows, tokens, …]. */
export interface DeltaProjections {
  /** Queries, keys and values side by side, before the convolution. */
  mixed: Value;
  /** Gate of what is read. */
  gate: Value;
  /** [rows, tokens, heads of values]: how far the state is corrected, before the sigmoid, and how long it lasts. */
  share: Value;
  steps: Value;
}

export interface DeltaLayer {
  layer: number;
  at(name: string): string;
  c: DeltaNet;
  /** Of the norm of what is read, and of the last layer; Qwen's if absent. */
  names?: { norm: string; output: string };
  /** Of that norm; the model's if absent. */
  epsilon?: number;
  /** Shares reach to so much; 1 if absent. */
  most?: number;
  /** Parts that the convolution is made of, with their channels; one of Qwen's name if absent. */
  convolution?: readonly (readonly [name: string, channels: number])[] | undefined;
}

const QWEN = { norm: 'norm', output: 'out_proj' };

/** A convolution over queries, keys and values, the delta rule, and a gated norm of each head: float32 [rows, tokens, width]. */
export function deltaNet(
  g: GraphWriter,
  inputs: DecoderInputs,
  { mixed, gate, share, steps }: DeltaProjections,
  { layer, at, c, names = QWEN, epsilon = c.rms_norm_eps, most = 1, convolution }: DeltaLayer,
): Value {
  const { linear_num_key_heads: keyHeads, linear_num_value_heads: heads } = c;
  const { linear_key_head_dim: keyWidth, linear_value_head_dim: valueWidth } = c;
  const [keys, values] = [keyHeads * keyWidth, heads * valueWidth];
  const convolved = causalConvolution(g, mixed, inputs, {
    ...{ layer, channels: 2 * keys + values, kernel: c.linear_conv_kernel_dim, bias: false },
    name: convolution ? convolution.map(([name, own]) => [at(name), own] as const) : at('conv1d'),
  });
  const [query, key, value] = g.nodes(
    'Split',
    [activation(g, convolved, c.hidden_act), g.ints([keys, keys, values])],
    { outputs: 3, attributes: { axis: -1 } },
  ) as [Value, Value, Value];
  const positive = g.node('Softplus', [g.node('Add', [steps, g.weight(at('dt_bias'), [heads])])]);
  const rates = g.node('Neg', [g.node('Exp', [g.weight(at('A_log'), [heads])])]);
  const decay = g.node('Mul', [positive, rates]);
  const within = g.node('Sigmoid', [share]);
  const shares = most === 1 ? within : g.node('Mul', [within, g.scalar(most)]);
  const read = deltaRule(
    g,
    inputs,
    { query, key, value, decay, share: shares },
    { layer, keyHeads, heads, keyWidth, valueWidth },
  );
  const split = g.node('Reshape', [read, g.ints([0, 0, heads, valueWidth])]);
  const normed = rmsNorm(g, split, at(names.norm), { width: valueWidth, epsilon });
  const flat = g.node('Reshape', [normed, g.ints([0, 0, values])]);
  const opened = g.node('Mul', [flat, activation(g, gate, 'silu')]);
  return linear(g, opened, at(names.output), { from: values, to: c.hidden_size, bias: false });
}

/** Fields that say which layers attend; every fourth one where there is no list. */
export const attendingLayers = {
  layer_types: z.array(z.enum(['full_attention', 'linear_attention'])).nullish(),
  full_attention_interval: size.default(4),
};
type Attending = z.output<z.ZodObject<typeof attendingLayers>>;

export const attends = ({ layer_types: types, full_attention_interval: every }: Attending, layer: number) =>
  types ? types[layer] === 'full_attention' : (layer + 1) % every === 0;

export const attendingCount = (c: Attending & { num_hidden_layers: number }): number =>
  Array.from({ length: c.num_hidden_layers }, (_, layer) => attends(c, layer)).filter(Boolean).length;

/** Python's cache asks layers that attend how long a text is. */
export function hasAttention(c: Attending & { num_hidden_layers: number }, context: z.RefinementCtx): void {
  const refuse = (message: string) => context.addIssue({ code: 'custom', message, path: ['layer_types'] });
  if ((c.layer_types?.length ?? Infinity) < c.num_hidden_layers) refuse('leaves out layers');
  else if (!Array.from({ length: c.num_hidden_layers }, (_, i) => i).some((layer) => attends(c, layer)))
    refuse('no layer attends');
}
