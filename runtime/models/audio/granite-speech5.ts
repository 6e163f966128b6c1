import * as z from 'zod';
import type { AudioNetwork } from '../../core/network.js';
import { equalHeads, layers, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { attention } from '../layers/attention.js';
import { inPieces, outOfPieces, pieceDistanceBias, stepsInPieces } from '../layers/block-attention.js';
import { batchNorm, convolution } from '../layers/convolution.js';
import { gatedChannels } from '../layers/glu.js';
import { headWidth } from '../layers/head-sizes.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

const few = z.int().min(1).max(4096);

const encoder = z
  .object({
    model_type: z.literal('granite_speech5_encoder').default('granite_speech5_encoder'),
    ...{ vocab_size: size.default(16_384), hidden_size: size.default(1024) },
    ...{ intermediate_size: size.default(4096), num_hidden_layers: layers.default(16) },
    ...{ num_attention_heads: size.default(8), num_key_value_heads: size.nullish() },
    ...{ num_mel_bins: size.default(80), head_dim: size.nullish(), hidden_act: z.string().default('silu') },
    ...{ max_position_embeddings: few.default(512), context_size: few.default(128) },
    ...{ conv_kernel_size: few.default(7), conv_expansion_factor: few.default(2) },
    subsample_layers: z.array(z.int()).max(64).nullable().default([0, 1]),
    attention_bias: z.boolean().default(true),
  })
  .refine(...equalHeads)
  .refine((c) => c.context_size <= c.max_position_embeddings, {
    ...{ message: 'is more than max_position_embeddings', path: ['context_size'] },
  })
  .refine((c) => c.conv_kernel_size % 2 === 1, {
    ...{ message: 'is even, which leaves other steps', path: ['conv_kernel_size'] },
  });
type Encoder = z.output<typeof encoder>;

const config = z
  .object({
    encoder_config: encoder.nullish().transform((given) => given ?? encoder.parse({})),
    vocab_size: size.default(16_384),
    tie_word_embeddings: z.boolean().default(true),
  })
  .refine((c) => c.encoder_config.vocab_size === c.vocab_size, {
    ...{ message: 'is another than that of encoder_config', path: ['vocab_size'] },
  });
type Config = z.output<typeof config>;

/** Of norms without a setting. */
const EPSILON = 1e-5;
/** A filter and its change, of two frames. */
const STACKED = 4;
/** Samples of a step: two frames. */
const HOP = 320;

/** Layers behind which there are half the steps. */
const halvingLayers = ({ subsample_layers, num_hidden_layers }: Encoder): number[] =>
  [...new Set(subsample_layers ?? [0, 1])].filter((i) => i >= 0 && i < num_hidden_layers);

interface Layer {
  at(name: string): string;
  c: Encoder;
  /** Layers before that halve the steps. */
  halved: number;
  halves: boolean;
}

/** Steps of a piece see each other. GraniteSpeech5EncoderAttention */
function attend(g: GraphWriter, x: Value, { at, c, halved }: Layer): Value {
  const { hidden_size: width, num_attention_heads: heads, context_size: length } = c;
  const each = c.head_dim ?? headWidth(width, heads);
  const inner = heads * each;
  const pieces = inPieces(g, x, length, width);
  const project = (name: string) =>
    linear(g, pieces, at(`${name}_proj`), { from: width, to: inner, bias: false });
  const query = project('q');
  const bias = pieceDistanceBias(g, query, at('rel_pos_emb.weight'), {
    ...{ heads, each, length, most: c.max_position_embeddings },
  });
  const padding = g.once(`steps that are seen, ${halved}`, () => stepsInPieces(g, x, length));
  const found = attention(
    g,
    { query, key: project('k'), value: project('v') },
    { heads, width: inner, bias, padding },
  );
  return linear(g, outOfPieces(g, found, { like: x, width: inner }), at('o_proj'), {
    from: inner,
    to: width,
  });
}

/** Gates, a convolution of each channel over the steps around, and its norm. GraniteSpeech5EncoderConvolutionModule */
function convolve(g: GraphWriter, x: Value, { at, c, halves }: Layer): Value {
  const { hidden_size: width, conv_kernel_size: kernel } = c;
  const inner = width * c.conv_expansion_factor;
  const turned = (value: Value) => g.node('Transpose', [value], { perm: [0, 2, 1] });
  const both = linear(g, x, at('pointwise_lin1'), { from: width, to: 2 * inner });
  const found = convolution(g, gatedChannels(g, turned(both), inner), at('depthwise_conv'), {
    ...{ from: inner, to: inner, groups: inner, kernel: [kernel], bias: false },
    ...{ padding: [(kernel - 1) / 2], ...(halves && { stride: [2] }) },
  });
  const even = activation(g, batchNorm(g, found, at('norm'), { width: inner }), 'silu');
  return linear(g, turned(even), at('pointwise_lin2'), { from: inner, to: width });
}

/** The mean of each two steps, without an odd one: float32 [rows, steps, width] -> [rows, steps / 2, width]. */
function halvedSteps(g: GraphWriter, x: Value, width: number): Value {
  const count = g.node('Shape', [x], { start: 1, end: 2 });
  const whole = g.node('Sub', [count, g.node('Mod', [count, g.ints([2])])]);
  const pairs = g.node('Slice', [x, g.ints([0]), whole, g.ints([1])]);
  const split = g.node('Reshape', [pairs, g.ints([0, -1, 2, width])]);
  return g.node('ReduceMean', [split, g.ints([2])], { keepdims: 0 });
}

/** What the convolution finds is added to what it reads, of each two steps to their mean. */
function convolved(g: GraphWriter, x: Value, found: Value, { c, halves }: Layer): Value {
  if (!halves) return g.node('Add', [x, found]);
  const pooled = halvedSteps(g, x, c.hidden_size);
  const steps = g.node('Shape', [pooled], { start: 1, end: 2 });
  return g.node('Add', [pooled, g.node('Slice', [found, g.ints([0]), steps, g.ints([1])])]);
}

/** Half a feed-forward, attention, a convolution, and the other half. GraniteSpeech5EncoderBlock */
function writeLayer(g: GraphWriter, x: Value, layer: Layer): Value {
  const { at, c } = layer;
  const [width, inner, bias] = [c.hidden_size, c.intermediate_size, c.attention_bias];
  const norm = (value: Value, name: string) =>
    layerNorm(g, value, at(`norm_${name}`), { width, epsilon: EPSILON });
  const part = (name: string): Layer => ({ ...layer, at: (own) => at(`${name}.${own}`) });
  const half = (value: Value, name: string) => {
    const wide = linear(g, norm(value, name), at(`${name}.linear1`), { from: width, to: inner, bias });
    const found = linear(g, activation(g, wide, c.hidden_act), at(`${name}.linear2`), {
      ...{ from: inner, to: width, bias },
    });
    return g.node('Add', [value, g.node('Mul', [found, g.scalar(0.5)])]);
  };
  const first = half(x, 'feed_forward1');
  const attended = g.node('Add', [first, attend(g, norm(first, 'self_att'), part('self_attn'))]);
  const found = convolve(g, norm(attended, 'conv'), part('conv'));
  return norm(half(convolved(g, attended, found, layer), 'feed_forward2'), 'out');
}

/** With what the states in the middle say of the tokens. */
function withTokens(g: GraphWriter, x: Value, { hidden_size: width, vocab_size: tokens }: Encoder): Value {
  const scores = linear(g, x, 'encoder.out', { from: width, to: tokens });
  const likely = g.node('Softmax', [scores], { axis: -1 });
  return g.node('Add', [x, linear(g, likely, 'encoder.out_mid', { from: tokens, to: width })]);
}

/** A head of the file counts, whatever config.json says: it is the one in the middle else. */
function headOf(g: GraphWriter, { tie_word_embeddings: tie }: Config): string {
  return tie && !g.weights.has('ctc_head.weight') ? 'encoder.out' : 'ctc_head';
}

function writeRecognizer(g: GraphWriter, all: Config): void {
  const { encoder_config: c, vocab_size: to } = all;
  const [width, features] = [c.hidden_size, STACKED * c.num_mel_bins];
  const input = g.input('input_features', 'float32', ['rows', 'frames', features]);
  const halving = new Set(halvingLayers(c));
  let x = linear(g, input, 'encoder.input_linear', { from: features, to: width });
  let halved = 0;
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const at = (name: string) => `encoder.layers.${i}.${name}`;
    const halves = halving.has(i);
    x = writeLayer(g, x, { at, c, halved, halves });
    if (halves) halved++;
    if (i + 1 === Math.floor(c.num_hidden_layers / 2)) x = withTokens(g, x, c);
  }
  const logits = linear(g, x, headOf(g, all), { from: width, to });
  g.output('logits', logits, 'float32', ['rows', 'steps', to]);
}

/** The first layer computes over all steps; scores are those of a piece at a time. */
const audio = ({ encoder_config: c }: Config): AudioNetwork => ({
  strides: [HOP],
  widths: [2 * c.hidden_size * c.conv_expansion_factor + c.num_attention_heads * c.context_size],
  tensors: 3,
  sizes: { hidden: c.hidden_size, intermediate: c.intermediate_size, heads: 0 },
});

/** Conformer over pieces of audio, whose layers halve the steps and score them in the middle, too. modeling_granite_speech5.py */
export const graniteSpeech5Ctc = defineFamily({
  modelTypes: ['granite_speech5_ctc'],
  readers: { extractor: 'GraniteSpeech5', audio: 'granite-speech5' },
  memory: { audio },
  usualTask: 'automatic-speech-recognition',
  config,
  prefixes: [],
  heads: { ctc: { model: writeRecognizer } },
});
