import * as z from 'zod';
import { layers, size } from '../../config-fields.js';
import { attention } from '../../layers/attention.js';
import { activation } from '../../layers/activation.js';
import { conformerConvolution } from '../../layers/conformer-convolution.js';
import { headWidth } from '../../layers/head-sizes.js';
import { inPieces, outOfPieces, pieceDistanceBias, stepsInPieces } from '../../layers/block-attention.js';
import { linear } from '../../layers/linear.js';
import { layerNorm } from '../../layers/norm.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';

const few = z.int().min(1).max(4096);

/** Conformer over blocks of audio. GraniteSpeechEncoderConfig */
export const conformer = z
  .object({
    ...{ input_dim: size.default(160), num_layers: layers.default(10), hidden_dim: size.default(1024) },
    ...{ feedforward_mult: few.default(4), num_heads: size.default(8), dim_head: size.nullish() },
    ...{ output_dim: size.default(42), context_size: few.default(200), max_pos_emb: few.default(512) },
    ...{ conv_kernel_size: few.default(15), conv_expansion_factor: few.default(2) },
    cat_hidden_layers: z.array(z.int().min(0).max(1024)).max(64).nullish(),
  })
  .refine((c) => c.context_size <= c.max_pos_emb, {
    ...{ message: 'is more than max_pos_emb', path: ['context_size'] },
  });
export type Conformer = z.output<typeof conformer>;

/** Of norms without a setting. */
const EPSILON = 1e-5;

interface Layer {
  at(name: string): string;
  c: Conformer;
}

const normed = (g: GraphWriter, x: Value, name: string, { hidden_dim: width }: Conformer): Value =>
  layerNorm(g, x, name, { width, epsilon: EPSILON });

/** int32 [blocks, context_size]: 0 for what fills up the last block. */
const seenSteps = (g: GraphWriter, x: Value, { context_size }: Conformer): Value =>
  g.once('steps that are seen', () => stepsInPieces(g, x, context_size));

/** Steps of a block see each other. */
function attend(g: GraphWriter, x: Value, layer: Layer): Value {
  const { at, c } = layer;
  const { hidden_dim: width, num_heads: heads } = c;
  const each = c.dim_head ?? headWidth(width, heads);
  const inner = heads * each;
  const blocks = inPieces(g, normed(g, x, at('pre_norm'), c), c.context_size, width);
  const query = linear(g, blocks, at('to_q'), { from: width, to: inner, bias: false });
  const both = linear(g, blocks, at('to_kv'), { from: width, to: 2 * inner, bias: false });
  const [key, value] = g.nodes('Split', [both, g.ints([inner, inner])], {
    ...{ outputs: 2, attributes: { axis: 2 } },
  }) as [Value, Value];
  const bias = pieceDistanceBias(g, query, at('rel_pos_emb.weight'), {
    ...{ heads, each, length: c.context_size, most: c.max_pos_emb },
  });
  const found = attention(
    g,
    { query, key, value },
    { heads, width: inner, bias, padding: seenSteps(g, x, c) },
  );
  const own = outOfPieces(g, found, { like: x, width: inner });
  return linear(g, own, at('to_out'), { from: inner, to: width });
}

/** Names of a convolution as other conformers have them. */
const CONVOLUTION: Readonly<Record<string, string>> = {
  ...{ pointwise_conv1: 'up_conv', depthwise_conv: 'depth_conv.conv' },
  ...{ norm: 'batch_norm', pointwise_conv2: 'down_conv' },
};

function convolve(g: GraphWriter, x: Value, { at, c }: Layer): Value {
  const { hidden_dim: width, conv_kernel_size: kernel } = c;
  const before = Math.floor(kernel / 2);
  return conformerConvolution(g, normed(g, x, at('norm'), c), {
    at: (name) => at(CONVOLUTION[name]!),
    ...{ width, inner: width * c.conv_expansion_factor, kernel, bias: true, stepBias: false, act: 'silu' },
    padding: { before: [before], behind: [before - ((kernel + 1) % 2)] },
  });
}

/** Half a feed-forward, attention, a convolution, and the other half, each added to what it reads. */
function writeLayer(g: GraphWriter, x: Value, { at, c }: Layer): Value {
  const width = c.hidden_dim;
  const inner = width * c.feedforward_mult;
  const half = (read: Value, name: string) => {
    const wide = linear(g, normed(g, read, at(`${name}.pre_norm`), c), at(`${name}.up_proj`), {
      ...{ from: width, to: inner },
    });
    const found = linear(g, activation(g, wide, 'silu'), at(`${name}.down_proj`), { from: inner, to: width });
    return g.node('Add', [read, g.node('Mul', [found, g.scalar(0.5)])]);
  };
  const part = (name: string): Layer => ({ at: (own) => at(`${name}.${own}`), c });
  const first = half(x, 'ff1');
  const attended = g.node('Add', [first, attend(g, first, part('attn'))]);
  const convolved = g.node('Add', [attended, convolve(g, attended, part('conv'))]);
  return normed(g, half(convolved, 'ff2'), at('post_norm'), c);
}

/** With what the states in the middle say of letters. */
function withLetters(g: GraphWriter, x: Value, { hidden_dim: width, output_dim: letters }: Conformer): Value {
  const scores = linear(g, x, 'encoder.out', { from: width, to: letters });
  const likely = g.node('Softmax', [scores], { axis: -1 });
  return g.node('Add', [x, linear(g, likely, 'encoder.out_mid', { from: letters, to: width })]);
}

/** Declares the input; states of all steps, and of earlier layers where they are asked for: float32 [1, steps, width]. */
export function conformerStates(g: GraphWriter, c: Conformer): { states: Value; width: number } {
  const { hidden_dim: width, cat_hidden_layers } = c;
  const asked = new Set(cat_hidden_layers);
  const features = g.input('input_features', 'float32', [1, 'steps', c.input_dim]);
  let x = linear(g, features, 'encoder.input_linear', { from: c.input_dim, to: width });
  const kept = asked.has(0) ? [x] : [];
  for (let i = 1; i <= c.num_layers; i++) {
    x = writeLayer(g, x, { at: (name) => `encoder.layers.${i - 1}.${name}`, c });
    // Python adds in place, so that what is kept has it, too.
    if (i === Math.floor(c.num_layers / 2)) x = withLetters(g, x, c);
    if (asked.has(i)) kept.push(x);
  }
  if (kept.length === 0) return { states: x, width };
  return { states: g.node('Concat', [...kept, x], { axis: 2 }), width: width * (kept.length + 1) };
}
