import * as z from 'zod';
import { activation } from '../../layers/activation.js';
import { attention } from '../../layers/attention.js';
import { convolution } from '../../layers/convolution.js';
import { gatedChannels } from '../../layers/glu.js';
import { linear } from '../../layers/linear.js';
import { layerNorm } from '../../layers/norm.js';
import { GraphError } from '../../writer/errors.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { ELEMENTS } from '../../writer/tensors.js';
import { layers, size } from '../../config-fields.js';

const few = z.int().min(1).max(4096);

/** What configurations say of the layers behind an encoder that make its steps fewer. */
export const adapterConfig = {
  add_adapter: z.boolean().default(false),
  ...{ adapter_kernel_size: few.default(3), adapter_stride: few.default(2) },
  num_adapter_layers: layers.default(3),
  output_hidden_size: size.nullish(),
};

export type AdapterConfig = z.output<z.ZodObject<typeof adapterConfig>> & { hidden_size: number };

/** Width of what is scored. */
export const adaptedWidth = (c: AdapterConfig): number =>
  c.add_adapter ? (c.output_hidden_size ?? c.hidden_size) : c.hidden_size;

/** @throws GraphError for a classifier with adapters, as Python refuses it */
export function refuseAdapters(c: AdapterConfig): void {
  if (c.add_adapter)
    throw new GraphError(
      'config.json: classifiers with adapters behind the encoder (add_adapter) are not known',
    );
}

/** float32 [rows, channels, steps] <-> [rows, steps, channels] */
const turned = (g: GraphWriter, x: Value): Value => g.node('Transpose', [x], { perm: [0, 2, 1] });

interface Named {
  /** With a dot behind it. */
  base: string;
  epsilon: number;
}

/** States as wide as the adapter: float32 [rows, steps, output_hidden_size]. */
function projected(g: GraphWriter, x: Value, c: AdapterConfig, { base, epsilon }: Named): Value {
  const width = adaptedWidth(c);
  if (width === c.hidden_size) return x;
  const found = linear(g, x, `${base}adapter.proj`, { from: c.hidden_size, to: width });
  return layerNorm(g, found, `${base}adapter.proj_layer_norm`, { width, epsilon });
}

/** torch's default for norms. */
const EPSILON = 1e-5;

/** Convolutions with gates, each with fewer steps: float32 [rows, steps, output_hidden_size]. Wav2Vec2Adapter */
export function waveAdapter(g: GraphWriter, states: Value, c: AdapterConfig, base: string): Value {
  const width = adaptedWidth(c);
  let x = turned(g, projected(g, states, c, { base, epsilon: EPSILON }));
  for (let i = 0; i < c.num_adapter_layers; i++) {
    const sizes = { from: width, to: 2 * width, kernel: [c.adapter_kernel_size], stride: [c.adapter_stride] };
    const both = convolution(g, x, `${base}adapter.layers.${i}.conv`, { ...sizes, padding: [1] });
    x = gatedChannels(g, both, width);
  }
  return turned(g, x);
}

export interface FrameAdapterConfig extends AdapterConfig {
  num_attention_heads: number;
  intermediate_size: number;
  layer_norm_eps: number;
  adapter_act: string;
}

/**
 * Layers of attention over fewer steps each: float32 [rows, steps, output_hidden_size]. Wav2Vec2BertAdapter
 * @param padding int32 [rows, frames], 0 behind the end of a row
 */
export function frameAdapter(
  g: GraphWriter,
  states: Value,
  c: FrameAdapterConfig,
  { base, padding }: { base: string; padding: Value },
): Value {
  const epsilon = c.layer_norm_eps;
  let x = projected(g, states, c, { base, epsilon });
  const counted = g.node('ReduceSum', [g.node('Cast', [padding], { to: ELEMENTS.int64 }), g.ints([1])]);
  let lengths = g.node('Cast', [counted], { to: ELEMENTS.float32 });
  for (let i = 0; i < c.num_adapter_layers; i++) {
    lengths = fewer(g, lengths, c);
    x = frameAdapterLayer(g, x, { c, at: `${base}adapter.layers.${i}`, lengths });
  }
  return x;
}

/** How many steps of each row count behind a layer, float32 [rows, 1], as Python reckons it. */
function fewer(
  g: GraphWriter,
  lengths: Value,
  { adapter_kernel_size: kernel, adapter_stride }: AdapterConfig,
) {
  const more = g.node('Add', [lengths, g.scalar(2 * Math.floor(kernel / 2) - kernel)]);
  const strides = g.node('Add', [g.node('Div', [more, g.scalar(adapter_stride)]), g.scalar(1)]);
  return g.node('Floor', [strides]);
}

interface AdapterLayer {
  c: FrameAdapterConfig;
  at: string;
  /** float32 [rows, 1] */
  lengths: Value;
}

function frameAdapterLayer(g: GraphWriter, x: Value, { c, at, lengths }: AdapterLayer): Value {
  const width = adaptedWidth(c);
  const norm = { width, epsilon: c.layer_norm_eps };
  const read = (name: string) => {
    const channels = turned(g, layerNorm(g, x, `${at}.${name}_layer_norm`, norm));
    const sizes = { from: width, to: 2 * width, kernel: [c.adapter_kernel_size], stride: [c.adapter_stride] };
    const padding = [Math.floor(c.adapter_stride / 2)];
    return turned(
      g,
      gatedChannels(g, convolution(g, channels, `${at}.${name}_conv`, { ...sizes, padding }), width),
    );
  };
  const [kept, steps] = [read('residual'), read('self_attn')];
  const project = (of: Value, name: string) =>
    linear(g, of, `${at}.self_attn.linear_${name}`, { from: width, to: width });
  const parts = { query: project(steps, 'q'), key: project(steps, 'k'), value: project(steps, 'v') };
  const padding = stepsWithin(g, steps, lengths);
  const found = attention(g, parts, { heads: c.num_attention_heads, width, padding });
  const attended = g.node('Add', [project(found, 'out'), kept]);
  const normed = layerNorm(g, attended, `${at}.ffn_layer_norm`, norm);
  const inner = { from: width, to: c.intermediate_size };
  const wide = activation(g, linear(g, normed, `${at}.ffn.intermediate_dense`, inner), c.adapter_act);
  const narrow = linear(g, wide, `${at}.ffn.output_dense`, { from: inner.to, to: width });
  return g.node('Add', [narrow, attended]);
}

/** int32 [rows, steps]: 1 for the first ones of each row. */
function stepsWithin(g: GraphWriter, steps: Value, lengths: Value): Value {
  const count = g.node('Squeeze', [g.node('Shape', [steps], { start: 1, end: 2 })]);
  const positions = g.node('Range', [g.ints([0], []), count, g.ints([1], [])]);
  const within = g.node('Less', [g.node('Cast', [positions], { to: ELEMENTS.float32 }), lengths]);
  return g.node('Cast', [within], { to: ELEMENTS.int32 });
}
