import * as z from 'zod';
import type { AudioNetwork } from '../../core/network.js';
import { equalHeads, layers, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { attention } from '../layers/attention.js';
import { conformerConvolution } from '../layers/conformer-convolution.js';
import { convolution } from '../layers/convolution.js';
import { headWidth } from '../layers/head-sizes.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { rotary, rotate } from '../layers/rope.js';
import { positionsOf } from '../layers/text-inputs.js';
import { rotaryConfig } from '../layers/rope-frequencies.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

const kernel = z.int().min(1).max(4096);
const pair = z.array(z.number()).length(2);

const encoder = z
  .object({
    model_type: z.literal('lasr_encoder').default('lasr_encoder'),
    ...rotaryConfig,
    max_position_embeddings: rotaryConfig.max_position_embeddings.default(10_000),
    ...{ hidden_size: size.default(512), num_hidden_layers: layers.default(17) },
    ...{
      num_attention_heads: size.default(8),
      num_key_value_heads: size.nullish(),
      head_dim: size.nullish(),
    },
    ...{ intermediate_size: size.default(2048), hidden_act: z.string().default('silu') },
    ...{ attention_bias: z.boolean().default(false), convolution_bias: z.boolean().default(false) },
    ...{ conv_kernel_size: kernel.default(32), layer_norm_eps: z.number().positive().default(1e-6) },
    ...{ subsampling_conv_channels: size.default(256), num_mel_bins: size.default(128) },
    ...{ subsampling_conv_kernel_size: kernel.default(5), subsampling_conv_stride: kernel.default(2) },
    feed_forward_residual_weights: pair.default([1.5, 0.5]),
    conv_residual_weights: pair.default([2, 1]),
  })
  .refine(...equalHeads);
type Encoder = z.output<typeof encoder>;

const config = z.object({
  encoder_config: encoder.nullish().transform((given) => given ?? encoder.parse({})),
  vocab_size: size.default(512),
});
type Config = z.output<typeof config>;

/** Fewer steps of many frames: two convolutions between layers. LasrEncoderSubsampling */
function fewerSteps(g: GraphWriter, c: Encoder): Value {
  const [width, channels, filters] = [c.hidden_size, c.subsampling_conv_channels, c.num_mel_bins];
  const at = (name: string) => `encoder.subsampler.${name}`;
  const features = g.input('input_features', 'float32', ['rows', 'frames', filters]);
  const first = g.node('Relu', [linear(g, features, at('dense_0'), { from: filters, to: width })]);
  const turned = (x: Value) => g.node('Transpose', [x], { perm: [0, 2, 1] });
  const over = { kernel: [c.subsampling_conv_kernel_size], stride: [c.subsampling_conv_stride] };
  const found = [width, channels].reduce(
    (x, to, i) => g.node('Relu', [convolution(g, x, at(`conv_${i}`), { from: width, to, ...over })]),
    turned(first),
  );
  return linear(g, turned(found), at('dense_1'), { from: channels, to: width });
}

interface Layer {
  at(name: string): string;
  c: Encoder;
}

/** int64 [rows, steps] */
const stepPositions = (g: GraphWriter, x: Value): Value =>
  g.once('positions of steps', () =>
    g.node('Expand', [positionsOf(g, x), g.node('Shape', [x], { start: 0, end: 2 })]),
  );

function attend(g: GraphWriter, x: Value, { at, c }: Layer): Value {
  const [heads, bias] = [c.num_attention_heads, c.attention_bias];
  const each = c.head_dim ?? headWidth(c.hidden_size, heads);
  const width = heads * each;
  const project = (name: string) =>
    linear(g, x, at(`self_attn.${name}_proj`), { from: c.hidden_size, to: width, bias });
  const turn = (value: Value) =>
    rotate(g, value, rotary(g, stepPositions(g, x), c, each), { heads, width: each });
  const found = attention(
    g,
    { query: turn(project('q')), key: turn(project('k')), value: project('v') },
    { heads, width },
  );
  return linear(g, found, at('self_attn.o_proj'), { from: width, to: c.hidden_size, bias });
}

/** Two feed-forwards around attention and a convolution, each added to so much of what it reads. LasrEncoderBlock */
function writeLayer(g: GraphWriter, x: Value, layer: Layer): Value {
  const { at, c } = layer;
  const [width, inner, bias] = [c.hidden_size, c.intermediate_size, c.attention_bias];
  const norm = (value: Value, name: string) => normed(g, value, at(`norm_${name}`), c);
  const fed = (value: Value, name: string) => {
    const read = linear(g, norm(value, name), at(`${name}.linear1`), { from: width, to: inner, bias });
    const found = linear(g, activation(g, read, c.hidden_act), at(`${name}.linear2`), {
      ...{ from: inner, to: width, bias },
    });
    return weighted(g, value, found, c.feed_forward_residual_weights);
  };
  const first = fed(x, 'feed_forward1');
  const attended = g.node('Add', [first, attend(g, norm(first, 'self_att'), layer)]);
  const convolved = conformerConvolution(g, norm(attended, 'conv'), {
    at: (name) => at(`conv.${name}`),
    ...{ width, kernel: c.conv_kernel_size, padding: 'same', bias: c.convolution_bias, act: c.hidden_act },
  });
  const both = weighted(g, attended, convolved, c.conv_residual_weights);
  return norm(fed(both, 'feed_forward2'), 'out');
}

/** So much of one and so much of the other. */
function weighted(g: GraphWriter, x: Value, found: Value, [kept, added]: readonly number[]): Value {
  const times = (value: Value, factor: number) => g.node('Mul', [value, g.scalar(factor)]);
  return g.node('Add', [times(x, kept!), times(found, added!)]);
}

const normed = (g: GraphWriter, x: Value, name: string, { hidden_size: width, layer_norm_eps }: Encoder) =>
  layerNorm(g, x, name, { width, epsilon: layer_norm_eps, bias: false });

function writeRecognizer(g: GraphWriter, { encoder_config: c, vocab_size: to }: Config): void {
  let x = fewerSteps(g, c);
  for (let i = 0; i < c.num_hidden_layers; i++)
    x = writeLayer(g, x, { at: (name) => `encoder.layers.${i}.${name}`, c });
  const last = g.node('Transpose', [normed(g, x, 'encoder.out_norm', c)], { perm: [0, 2, 1] });
  const scores = convolution(g, last, 'ctc_head', { from: c.hidden_size, to, kernel: [1] });
  g.output('logits', g.node('Transpose', [scores], { perm: [0, 2, 1] }), 'float32', ['rows', 'steps', to]);
}

/** Samples of a frame. */
const HOP = 160;

/** Frames are wide before convolutions make them fewer. */
const audio = ({ encoder_config: c }: Config): AudioNetwork => ({
  strides: [HOP, c.subsampling_conv_stride, c.subsampling_conv_stride],
  widths: [c.hidden_size, c.hidden_size, c.subsampling_conv_channels],
  tensors: 3,
  sizes: { hidden: c.hidden_size, intermediate: c.intermediate_size, heads: c.num_attention_heads },
});

/** Conformer with rotary positions whose steps are scored one by one (MedASR). modeling_lasr.py */
export const lasrCtc = defineFamily({
  modelTypes: ['lasr_ctc'],
  readers: { extractor: 'Lasr', audio: 'lasr' },
  memory: { audio },
  usualTask: 'automatic-speech-recognition',
  config,
  prefixes: [],
  heads: { ctc: { model: writeRecognizer } },
});
