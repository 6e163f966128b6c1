import * as z from 'zod';
import type { AudioNetwork } from '../../core/network.js';
import { epsilon, layers, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { convolution } from '../layers/convolution.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { preNormLayer } from '../layers/pre-norm-layer.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

const few = z.int().min(1).max(4096);
const list = z.array(few).min(1).max(64);

const encoder = z
  .object({
    model_type: z.literal('omniasr_audio').default('omniasr_audio'),
    ...{ hidden_size: size.default(1024), num_hidden_layers: layers.default(24) },
    ...{ num_attention_heads: size.default(16), intermediate_size: size.default(4096) },
    ...{ hidden_act: z.string().default('gelu'), layer_norm_eps: epsilon.default(1e-5) },
    conv_dim: list.default([512, 512, 512, 512, 512, 512, 512]),
    conv_stride: list.default([5, 2, 2, 2, 2, 2, 2]),
    conv_kernel: list.default([10, 3, 3, 3, 3, 2, 2]),
    conv_bias: z.boolean().default(true),
    // Of an odd kernel Python has a step too few.
    num_conv_pos_embeddings: few.multipleOf(2, 'is odd, which leaves other steps').default(128),
    num_conv_pos_embedding_groups: few.default(16),
  })
  .refine((c) => c.conv_dim.length === c.conv_stride.length && c.conv_dim.length === c.conv_kernel.length, {
    ...{ message: 'conv_stride and conv_kernel have other lengths', path: ['conv_dim'] },
  });
type Encoder = z.output<typeof encoder>;

const config = z.object({
  audio_config: encoder.nullish().transform((given) => given ?? encoder.parse({})),
  vocab_size: size.default(10_288),
});
type Config = z.output<typeof config>;

/** Of norms without a setting. */
const EPSILON = 1e-5;

const NAMES = {
  attentionNorm: 'layer_norm',
  ...{ query: 'attention.q_proj', key: 'attention.k_proj', value: 'attention.v_proj' },
  output: 'attention.out_proj',
  norm: 'final_layer_norm',
  ...{ wide: 'feed_forward.intermediate_dense', narrow: 'feed_forward.output_dense' },
};

const at = (name: string) => `model.audio_tower.${name}`;

/** float32 [rows, channels, steps] <-> [rows, steps, channels] */
const turned = (g: GraphWriter, x: Value): Value => g.node('Transpose', [x], { perm: [0, 2, 1] });

/** Steps of samples, a norm behind each convolution: float32 [rows, steps, width]. */
function steps(g: GraphWriter, c: Encoder): Value {
  const samples = g.input('input_values', 'float32', ['rows', 'samples']);
  let x = g.node('Unsqueeze', [samples, g.ints([2])]);
  c.conv_dim.forEach((to, i) => {
    const name = at(`subsampling.conv_layers.${i}`);
    const found = convolution(g, turned(g, x), `${name}.conv`, {
      ...{ from: c.conv_dim[i - 1] ?? 1, to, bias: c.conv_bias },
      ...{ kernel: [c.conv_kernel[i]!], stride: [c.conv_stride[i]!] },
    });
    const even = layerNorm(g, turned(g, found), `${name}.layer_norm`, { width: to, epsilon: EPSILON });
    x = activation(g, even, c.hidden_act);
  });
  const from = c.conv_dim.at(-1)!;
  const normed = layerNorm(g, x, at('subsampling.layer_norm'), { width: from, epsilon: c.layer_norm_eps });
  return linear(g, normed, at('subsampling.projection'), { from, to: c.hidden_size });
}

/** With where they lie, by a wide convolution over them, whose last step is left out. */
function placed(g: GraphWriter, x: Value, c: Encoder): Value {
  const [width, kernel] = [c.hidden_size, c.num_conv_pos_embeddings];
  const found = convolution(g, turned(g, x), at('encode_positions.conv'), {
    ...{ from: width, to: width, kernel: [kernel], padding: [kernel / 2] },
    groups: c.num_conv_pos_embedding_groups,
  });
  const kept = g.node('Slice', [found, g.ints([0]), g.ints([-1]), g.ints([2])]);
  return g.node('Add', [x, turned(g, activation(g, kept, c.hidden_act))]);
}

function writeRecognizer(g: GraphWriter, { audio_config: c, vocab_size: to }: Config): void {
  const size = { width: c.hidden_size, epsilon: c.layer_norm_eps };
  let x = placed(g, steps(g, c), c);
  for (let i = 0; i < c.num_hidden_layers; i++)
    x = preNormLayer(g, x, {
      ...{ ...size, inner: c.intermediate_size, heads: c.num_attention_heads, act: c.hidden_act },
      ...{ names: NAMES, at: (name) => at(`layers.${i}.${name}`) },
    });
  const last = layerNorm(g, x, at('layer_norm'), size);
  const logits = linear(g, last, 'ctc_head', { from: c.hidden_size, to });
  g.output('logits', logits, 'float32', ['rows', 'steps', to]);
}

/** As of Wav2Vec2's convolutions. */
const audio = ({ audio_config: c }: Config): AudioNetwork => ({
  ...{ strides: c.conv_stride, widths: c.conv_dim, tensors: 3 },
  sizes: { hidden: c.hidden_size, intermediate: c.intermediate_size, heads: c.num_attention_heads },
});

/** An encoder like wav2vec 2.0's whose steps are scored one by one. modeling_omniasr_ctc.py */
export const omniAsrCtc = defineFamily({
  modelTypes: ['omniasr_ctc'],
  readers: { extractor: 'OmniASR', audio: 'omniasr' },
  memory: { audio },
  usualTask: 'automatic-speech-recognition',
  limits: ['Tokens are read as its processor reads them: Python’s pipeline fails on this model.'],
  config,
  prefixes: [],
  heads: { ctc: { model: writeRecognizer } },
});
