import * as z from 'zod';
import type { AudioNetwork } from '../../core/network.js';
import { equalHeads, layers, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { attention } from '../layers/attention.js';
import { conformerConvolution } from '../layers/conformer-convolution.js';
import { contentAndDistance } from '../layers/content-and-distance.js';
import { convolution, convolution2d } from '../layers/convolution.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';

const kernel = z.int().min(1).max(4096);

const fields = {
  model_type: z.literal('parakeet_encoder').default('parakeet_encoder'),
  ...{ hidden_size: size.multipleOf(2).default(1024), num_hidden_layers: layers.default(24) },
  ...{ num_attention_heads: size.default(8), num_key_value_heads: size.nullish() },
  ...{ intermediate_size: size.default(4096), hidden_act: z.string().default('silu') },
  ...{ attention_bias: z.boolean().default(true), convolution_bias: z.boolean().default(true) },
  conv_kernel_size: kernel.default(9),
  subsampling_factor: z.int().min(2).max(1024).default(8),
  ...{ subsampling_conv_channels: size.default(256), num_mel_bins: size.default(80) },
  ...{ subsampling_conv_kernel_size: kernel.default(3), subsampling_conv_stride: kernel.min(2).default(2) },
  scale_input: z.boolean().default(true),
};

const checked = (shape: typeof fields) =>
  z
    .object(shape)
    .refine(...equalHeads)
    .refine((c) => c.conv_kernel_size % 2 === 1, {
      ...{ message: 'is even, which leaves other steps', path: ['conv_kernel_size'] },
    });

const encoder = checked(fields);
type Encoder = z.output<typeof encoder>;
export type ParakeetEncoder = Encoder;

/** The part of a model's configuration, and what Python makes where there is none. */
export const parakeetEncoderOr = (missing: z.input<typeof encoder>) =>
  encoder.nullish().transform((given) => given ?? encoder.parse(missing));

/** The part where its model has other defaults. */
export const cohereEncoder = checked({
  ...fields,
  ...{ hidden_size: size.multipleOf(2).default(1280), num_hidden_layers: layers.default(48) },
  ...{ intermediate_size: size.default(5120), num_mel_bins: size.default(128) },
  scale_input: z.boolean().default(false),
});

/** Of config.json. */
export const parakeetEncoder = parakeetEncoderOr({});

const config = z.object({
  encoder_config: parakeetEncoder,
  vocab_size: size.default(1025),
});
type Config = z.output<typeof config>;

const EPSILON = 1e-5;
/** Least float32, with which Python masks. */
const LEAST = -3.4028234663852886e38;

/** Convolutions that halve the steps. */
const halvings = (c: Encoder): number => Math.trunc(Math.log2(c.subsampling_factor));

/** What is left of so many steps or filters. */
function left(g: GraphWriter, lengths: Value, c: Encoder): Value {
  const { subsampling_conv_kernel_size: size, subsampling_conv_stride: stride } = c;
  const added = 2 * Math.floor((size - 1) / 2) - size;
  const steps = g.node('Add', [lengths, g.ints([added], [])]);
  return g.node('Add', [g.node('Div', [steps, g.ints([stride], [])]), g.ints([1], [])]);
}

/** bool [rows, steps]: the first steps of each row. @param x whose axis they are @param lengths int64 [rows] */
function firstSteps(g: GraphWriter, x: Value, axis: number, lengths: Value): Value {
  const count = g.node('Squeeze', [g.node('Shape', [x], { start: axis, end: axis + 1 })]);
  const positions = g.node('Range', [g.ints([0], []), count, g.ints([1], [])]);
  return g.node('Less', [positions, g.node('Unsqueeze', [lengths, g.ints([1])])]);
}

interface Steps {
  /** float32 [rows, steps, width] */
  states: Value;
  /** bool [rows, steps] */
  seen: Value;
}

/** Few steps of many frames, each convolution's padding made silent. ParakeetEncoderSubsamplingConv2D */
function fewerSteps(g: GraphWriter, c: Encoder): Steps {
  const [channels, filters] = [c.subsampling_conv_channels, c.num_mel_bins];
  const features = g.input('input_features', 'float32', ['rows', 'frames', filters]);
  const mask = g.input('attention_mask', 'int64', ['rows', 'frames']);
  let lengths = g.node('ReduceSum', [mask, g.ints([1])], { keepdims: 0 });
  let seen = '';
  const silent = (x: Value) => {
    seen = firstSteps(g, x, 2, lengths);
    const factor = g.node('Cast', [seen], { to: ELEMENTS.float32 });
    return g.node('Mul', [x, g.node('Unsqueeze', [factor, g.ints([1, 3])])]);
  };
  const size = { kernel: c.subsampling_conv_kernel_size, stride: c.subsampling_conv_stride };
  const padding = Math.floor((size.kernel - 1) / 2);
  const name = (layer: number) => `encoder.subsampling.layers.${layer}`;
  const halved = (x: Value, layer: number, from: number) => {
    const groups = from === 1 ? 1 : channels;
    const found = convolution2d(g, x, name(layer), { ...size, padding, from, to: channels, groups });
    lengths = left(g, lengths, c);
    return silent(found);
  };
  let x = g.node('Relu', [halved(g.node('Unsqueeze', [features, g.ints([1])]), 0, 1)]);
  for (let i = 1; i < halvings(c); i++) {
    const layer = 3 * i - 1;
    const point = { from: channels, to: channels, kernel: 1 };
    x = g.node('Relu', [silent(convolution2d(g, halved(x, layer, channels), name(layer + 1), point))]);
  }
  const from = channels * Math.floor(filters / size.stride ** halvings(c));
  if (from === 0) throw new GraphError('config.json: num_mel_bins are fewer than convolutions take together');
  const flat = g.node('Reshape', [
    g.node('Transpose', [x], { perm: [0, 2, 1, 3] }),
    g.node('Concat', [g.node('Shape', [seen]), g.ints([from])], { axis: 0 }),
  ]);
  return { states: linear(g, flat, 'encoder.subsampling.linear', { from, to: c.hidden_size }), seen };
}

interface Layer {
  at(name: string): string;
  c: Encoder;
  seen: Value;
}

/** Steps that are padding see everything, as in Python, where the least number is all that is left of their scores. */
function attend(g: GraphWriter, x: Value, { at, c, seen }: Layer): Value {
  const [width, heads, bias] = [c.hidden_size, c.num_attention_heads, c.attention_bias];
  const project = (read: Value, name: string) =>
    linear(g, read, at(`self_attn.${name}_proj`), { from: width, to: width, bias });
  const projected = { query: project(x, 'q'), key: project(x, 'k'), value: project(x, 'v') };
  const names = {
    distances: at('self_attn.relative_k_proj'),
    ...{ content: at('self_attn.bias_u'), distance: at('self_attn.bias_v') },
  };
  const placed = contentAndDistance(g, projected.query, names, { width, heads });
  const pairs = g.once('pairs of steps', () =>
    g.node('And', [g.node('Unsqueeze', [seen, g.ints([1, 2])]), g.node('Unsqueeze', [seen, g.ints([1, 3])])]),
  );
  const masked = g.node('Where', [pairs, placed.bias, g.scalar(LEAST)]);
  const found = attention(g, { ...projected, query: placed.query }, { heads, width, bias: masked });
  return project(found, 'o');
}

/** The convolution over the steps around, of which padding is silent. */
function convolve(g: GraphWriter, x: Value, { at, c, seen }: Layer): Value {
  const factor = () =>
    g.once('steps that are heard', () =>
      g.node('Unsqueeze', [g.node('Cast', [seen], { to: ELEMENTS.float32 }), g.ints([1])]),
    );
  return conformerConvolution(g, x, {
    at: (name) => at(`conv.${name}`),
    ...{ width: c.hidden_size, kernel: c.conv_kernel_size, padding: [(c.conv_kernel_size - 1) / 2] },
    ...{ bias: c.convolution_bias, act: c.hidden_act },
    masked: (gated) => g.node('Mul', [gated, factor()]),
  });
}

/** Half a feed-forward, attention, a convolution, and the other half, each added to what it reads. */
function writeLayer(g: GraphWriter, x: Value, layer: Layer): Value {
  const { at, c } = layer;
  const [width, inner, bias] = [c.hidden_size, c.intermediate_size, c.attention_bias];
  const norm = (value: Value, name: string) =>
    layerNorm(g, value, at(`norm_${name}`), { width, epsilon: EPSILON });
  const half = (value: Value, name: string) => {
    const read = linear(g, norm(value, name), at(`${name}.linear1`), { from: width, to: inner, bias });
    const wide = activation(g, read, c.hidden_act);
    const found = linear(g, wide, at(`${name}.linear2`), { from: inner, to: width, bias });
    return g.node('Add', [value, g.node('Mul', [found, g.scalar(0.5)])]);
  };
  const first = half(x, 'feed_forward1');
  const attended = g.node('Add', [first, attend(g, norm(first, 'self_att'), layer)]);
  const convolved = g.node('Add', [attended, convolve(g, norm(attended, 'conv'), layer)]);
  return norm(half(convolved, 'feed_forward2'), 'out');
}

/** Declares the inputs; states of all layers. */
export function parakeetSteps(g: GraphWriter, c: Encoder): Steps {
  const { states, seen } = fewerSteps(g, c);
  let x = c.scale_input ? g.node('Mul', [states, g.scalar(Math.sqrt(c.hidden_size))]) : states;
  for (let i = 0; i < c.num_hidden_layers; i++)
    x = writeLayer(g, x, { at: (name) => `encoder.layers.${i}.${name}`, c, seen });
  return { states: x, seen };
}

function writeRecognizer(g: GraphWriter, { encoder_config: c, vocab_size: to }: Config): void {
  const x = parakeetSteps(g, c).states;
  const turned = g.node('Transpose', [x], { perm: [0, 2, 1] });
  const scores = convolution(g, turned, 'ctc_head', { from: c.hidden_size, to, kernel: [1] });
  const logits = g.node('Transpose', [scores], { perm: [0, 2, 1] });
  g.output('logits', logits, 'float32', ['rows', 'steps', to]);
}

/** Samples of a frame. */
const HOP = 160;
/** Scores of all distances are in memory, too (measured: sizes of 0.6 B, 160 to 450 seconds, within 7 %). */
const BY_DISTANCE = 1.75;

/** Convolutions over images of filters and frames, which halve them on both axes. */
export function parakeetAudio({ encoder_config: c }: { encoder_config: Encoder }): AudioNetwork {
  const stride = c.subsampling_conv_stride;
  const stages = Array.from({ length: halvings(c) }, (_, i) => i + 1);
  return {
    strides: [HOP * stride, ...stages.slice(1).map(() => stride)],
    widths: stages.map((stage) => (c.subsampling_conv_channels * c.num_mel_bins) / stride ** stage),
    tensors: 2,
    sizes: {
      hidden: c.hidden_size,
      intermediate: c.intermediate_size,
      heads: c.num_attention_heads * BY_DISTANCE,
    },
  };
}

/** FastConformer whose steps are scored one by one. modeling_parakeet.py */
export const parakeetCtc = defineFamily({
  modelTypes: ['parakeet_ctc'],
  readers: { extractor: 'Parakeet', audio: 'parakeet' },
  memory: { audio: parakeetAudio },
  usualTask: 'automatic-speech-recognition',
  config,
  prefixes: [],
  heads: { ctc: { model: writeRecognizer } },
});
