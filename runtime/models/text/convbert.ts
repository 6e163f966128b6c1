import * as z from 'zod';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { attention } from '../layers/attention.js';
import { convolution } from '../layers/convolution.js';
import { groupWidth } from '../layers/head-sizes.js';
import { linear } from '../layers/linear.js';
import { skipLayerNorm } from '../layers/norm.js';
import { textInputs } from '../layers/text-inputs.js';
import { firstToken, textHeads, type TextModel } from '../bases/encoder/encoder-heads.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';
import { size } from '../config-fields.js';
import { twoLayerClassifier, vocabularyScores } from '../bases/encoder/bert-layer.js';
import { bertConfig, bertSizes } from '../bases/encoder/bert-config.js';
import { bertEmbeddings } from '../bases/encoder/bert-embeddings.js';

const config = z
  .object({
    ...bertConfig,
    embedding_size: size.default(768),
    head_ratio: z.int().min(1).max(4096).default(2),
    conv_kernel_size: z
      .int()
      .min(1)
      .max(255)
      .refine((kernel) => kernel % 2 === 1, 'kernels of even size are not known')
      .default(9),
    num_groups: z.int().min(1).max(4096).default(1),
    is_decoder: z.literal(false, 'decoders are not known').default(false),
  })
  .refine((c) => c.hidden_size % (2 * headsOf(c)) === 0, {
    ...{ message: 'can not be parted into heads and convolutions', path: ['hidden_size'] },
  });
type Config = z.output<typeof config>;

/** Heads that attend: the others' place is taken by convolutions. */
function headsOf(c: { num_attention_heads: number; head_ratio: number }): number {
  return Math.max(1, Math.floor(c.num_attention_heads / c.head_ratio));
}

const base = 'convbert.';

interface Layer {
  at: (name: string) => string;
  c: Config;
  /** int32 [rows, tokens], and the same as float32 [rows, tokens, 1]: 0 for padding. */
  padding: Value;
  seen: Value;
}

const turned = (g: GraphWriter, x: Value): Value => g.node('Transpose', [x], { perm: [0, 2, 1] });

/** Half of the heads attend, the other half are convolutions by kernels of each token: float32 [rows, tokens, width]. */
function attend(g: GraphWriter, x: Value, layer: Layer): Value {
  const { c, padding } = layer;
  const at = (name: string) => layer.at(`attention.self.${name}`);
  const [width, heads, half] = [c.hidden_size, headsOf(c), c.hidden_size / 2];
  const project = (name: string) => linear(g, x, at(name), { from: width, to: half });
  const query = project('query');
  const near = attention(
    g,
    { query, key: project('key'), value: project('value') },
    { heads, width: half, padding },
  );
  return g.node('Concat', [near, convolved(g, x, query, { ...layer, at })], { axis: 2 });
}

/** What lies beyond a text is zero, whether it is padding or not there. */
function convolved(g: GraphWriter, x: Value, query: Value, { at, c, seen }: Layer): Value {
  const [width, heads, half, kernel] = [c.hidden_size, headsOf(c), c.hidden_size / 2, c.conv_kernel_size];
  const reach = (kernel - 1) / 2;
  const channels = turned(g, g.node('Mul', [x, seen]));
  const each = convolution(g, channels, at('key_conv_attn_layer.depthwise'), {
    ...{ from: width, to: width, kernel: [kernel], padding: [reach], groups: width, bias: false },
  });
  const point = { from: width, to: half, kernel: [1], bias: false };
  const mixed = convolution(g, each, at('key_conv_attn_layer.pointwise'), point);
  const keys = turned(g, g.node('Add', [mixed, g.weight(at('key_conv_attn_layer.bias'), [half, 1])]));
  const scores = linear(g, g.node('Mul', [keys, query]), at('conv_kernel_layer'), {
    from: half,
    to: heads * kernel,
  });
  const kernels = g.node('Softmax', [g.node('Reshape', [scores, g.ints([0, 0, heads, kernel, 1])])], {
    axis: 3,
  });
  const values = g.node('Mul', [linear(g, x, at('conv_out_layer'), { from: width, to: half }), seen]);
  const filled = g.node('Pad', [values, g.ints([0, reach, 0, 0, reach, 0])]);
  const tokens = g.node('Shape', [x], { start: 1, end: 2 });
  const neighbours = Array.from({ length: kernel }, (_, i) => {
    const end = g.node('Add', [tokens, g.ints([i])]);
    const moved = g.node('Slice', [filled, g.ints([i]), end, g.ints([1])]);
    return g.node('Reshape', [moved, g.ints([0, 0, heads, half / heads, 1])]);
  });
  const found = g.node('MatMul', [g.node('Concat', neighbours, { axis: 4 }), kernels]);
  return g.node('Reshape', [found, g.ints([0, 0, half])]);
}

/** A layer whose channels may be parted into groups, [groups, from, to] then. */
function dense(
  g: GraphWriter,
  x: Value,
  name: string,
  size: { from: number; to: number; groups: number },
): Value {
  const { from, to, groups } = size;
  if (groups === 1) return linear(g, x, name, { from, to });
  const [narrow, wide] = [groupWidth(from, groups), groupWidth(to, groups)];
  const split = g.node('Reshape', [x, g.ints([0, 0, groups, 1, narrow])]);
  const product = g.node('MatMul', [split, g.weight(`${name}.weight`, [groups, narrow, wide])]);
  const flat = g.node('Reshape', [product, g.ints([0, 0, to])]);
  return g.node('Add', [flat, g.weight(`${name}.bias`, [to])]);
}

function writeLayer(g: GraphWriter, x: Value, layer: Layer): Value {
  const { at, c } = layer;
  const { width, inner, epsilon, act } = bertSizes(c);
  const output = linear(g, attend(g, x, layer), at('attention.output.dense'), { from: width, to: width });
  const middle = skipLayerNorm(g, [output, x], at('attention.output.LayerNorm'), { width, epsilon });
  const up = { from: width, to: inner, groups: c.num_groups };
  const wide = activation(g, dense(g, middle, at('intermediate.dense'), up), act);
  const narrow = dense(g, wide, at('output.dense'), { from: inner, to: width, groups: c.num_groups });
  return skipLayerNorm(g, [narrow, middle], at('output.LayerNorm'), { width, epsilon });
}

function statesOf(g: GraphWriter, c: Config): Value {
  const { ids, mask, types, padding } = textInputs(g, { types: true });
  const [narrow, width] = [c.embedding_size, c.hidden_size];
  const tokens = bertEmbeddings(g, { ids, types }, (name) => `${base}embeddings.${name}`, {
    ...{ width: narrow, epsilon: c.layer_norm_eps, vocabulary: c.vocab_size },
    ...{ kinds: c.type_vocab_size, positions: c.max_position_embeddings },
  });
  const seen = g.node('Unsqueeze', [g.node('Cast', [mask], { to: ELEMENTS.float32 }), g.ints([2])]);
  let x =
    narrow === width ? tokens : linear(g, tokens, `${base}embeddings_project`, { from: narrow, to: width });
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const at = (part: string) => `${base}encoder.layer.${i}.${part}`;
    x = writeLayer(g, x, { at, c, padding, seen });
  }
  return x;
}

const modelOf = (c: Config): TextModel => ({
  ...bertSizes(c),
  states: (g) => statesOf(g, c),
  classify: (g, states) =>
    twoLayerClassifier(g, firstToken(g, states), {
      ...{ dense: 'classifier.dense', output: 'classifier.out_proj', ...bertSizes(c) },
    }),
  fill: (g, states) =>
    vocabularyScores(
      g,
      states,
      {
        ...{ dense: 'generator_predictions.dense', norm: 'generator_predictions.LayerNorm' },
        ...{ own: 'generator_lm_head.weight', tied: `${base}embeddings.word_embeddings.weight` },
        bias: ['generator_lm_head.bias'],
      },
      { ...bertSizes(c), embedded: c.embedding_size, act: 'gelu' },
    ),
});

/** ELECTRA with convolutions beside attention. modeling_convbert.py */
export const convbert = defineFamily({
  modelTypes: ['convbert'],
  config,
  prefixes: [base],
  heads: textHeads(modelOf),
});
