import * as z from 'zod';
import { epsilon, layers, size } from '../../config-fields.js';
import { activation } from '../../layers/activation.js';
import { attention } from '../../layers/attention.js';
import { headGroup } from '../../layers/head-sizes.js';
import { linear } from '../../layers/linear.js';
import { headNorm, plainHeadNorm, rmsNorm } from '../../layers/norm.js';
import { type Rotary, rotate, turns } from '../../layers/rope.js';
import { rotaryFrequencies } from '../../layers/rope-frequencies.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { learnedPositions, patchInputs } from './patches.js';

/** Gemma 4's encoder of images of any proportions, whose patches are pooled in squares. Gemma4VisionModel */

const axial = z.literal('axial', 'is none that this encoder turns patches by').optional();

export const gemma4Images = z.object({
  ...{
    hidden_size: size.default(768),
    intermediate_size: size.default(3072),
    num_hidden_layers: layers.default(16),
  },
  ...{ num_attention_heads: size.default(12), num_key_value_heads: size.default(12) },
  head_dim: size.multipleOf(4, 'has no halves of pairs for both axes').default(64),
  hidden_activation: z.string().default('gelu_pytorch_tanh'),
  rms_norm_eps: epsilon.default(1e-6),
  rope_theta: z.number().positive().default(100),
  rope_scaling: z.object({ rope_type: axial, type: axial }).nullish(),
  // Python keeps what fills images up where nothing is pooled, and fails.
  pooling_kernel_size: z.int().min(2).max(64).default(3),
  patch_size: z.int().min(1).max(256).default(16),
  position_embedding_size: z
    .int()
    .min(1)
    .max(2 ** 20)
    .default(10_240),
  use_clipped_linears: z.boolean().default(false),
  standardize: z.boolean().default(false),
});
export type Gemma4Images = z.output<typeof gemma4Images>;

/** The first half of a head turns by the column of a patch, the second one by its line. */
function turnsOf(g: GraphWriter, positions: Value, c: Gemma4Images): Rotary {
  const half = c.head_dim / 2;
  const rope = { rope_theta: c.rope_theta, max_position_embeddings: 1 };
  const { values } = rotaryFrequencies(rope, half);
  const axes = Array.from({ length: half }, (_, i) => (i < half / 2 ? 1 : 0));
  const chosen = g.node('Gather', [positions, g.ints(axes)], { axis: 1 });
  const frequencies = g.floats([...values, ...values], [1, 1, half]);
  return turns(g, g.node('Unsqueeze', [chosen, g.ints([0])]), { frequencies, half });
}

interface Layer {
  c: Gemma4Images;
  turn: Rotary;
  at(name: string): string;
}

/** A layer whose inputs and outputs are cut off where its bounds say so. Gemma4ClippableLinear */
function bounded(
  g: GraphWriter,
  x: Value,
  name: string,
  { from, to, clips }: { from: number; to: number; clips: boolean },
): Value {
  const cut = (value: Value, side: string) =>
    clips
      ? g.node('Clip', [value, ...['min', 'max'].map((end) => g.weight(`${name}.${side}_${end}`, []))])
      : value;
  return cut(linear(g, cut(x, 'input'), `${name}.linear`, { from, to, bias: false }), 'output');
}

const normed = (g: GraphWriter, x: Value, name: string, c: Gemma4Images): Value =>
  rmsNorm(g, x, name, { width: c.hidden_size, epsilon: c.rms_norm_eps });

/** Quarters of each head in the order that pairs of both halves turn in: the same order for queries and keys changes no score. */
function paired(g: GraphWriter, x: Value, heads: number, width: number): Value {
  const quarters = g.node('Reshape', [x, g.ints([0, 0, heads, 2, 2, width / 4])]);
  const turned = g.node('Transpose', [quarters], { perm: [0, 1, 2, 4, 3, 5] });
  return g.node('Reshape', [turned, g.ints([0, 0, heads * width])]);
}

/** Heads of keys or values, as many as there are of queries. */
function repeated(g: GraphWriter, x: Value, { c }: Layer): Value {
  const { num_attention_heads: heads, num_key_value_heads: keyHeads, head_dim: width } = c;
  const group = headGroup(heads, keyHeads);
  if (group === 1) return x;
  const split = g.node('Reshape', [x, g.ints([0, 0, keyHeads, 1, width])]);
  const wide = g.node('Expand', [split, g.ints([1, 1, 1, group, 1])]);
  return g.node('Reshape', [wide, g.ints([0, 0, heads * width])]);
}

function attend(g: GraphWriter, x: Value, of: Layer): Value {
  const { c, turn, at } = of;
  const { num_attention_heads: heads, num_key_value_heads: keyHeads, head_dim: width } = c;
  const [from, clips, epsilon] = [c.hidden_size, c.use_clipped_linears, c.rms_norm_eps];
  const project = (name: string, count: number) =>
    bounded(g, x, at(`self_attn.${name}_proj`), { from, to: count * width, clips });
  const turned = (name: string, count: number) => {
    const size = { heads: count, width, epsilon };
    const found = headNorm(g, project(name, count), at(`self_attn.${name}_norm`), size);
    return rotate(g, paired(g, found, count, width), turn, { heads: count, width });
  };
  const value = plainHeadNorm(g, project('v', keyHeads), { heads: keyHeads, width, epsilon });
  const attended = attention(
    g,
    { query: turned('q', heads), key: repeated(g, turned('k', keyHeads), of), value: repeated(g, value, of) },
    { heads, width: heads * width, scale: 1 },
  );
  return bounded(g, attended, at('self_attn.o_proj'), { from: heads * width, to: from, clips });
}

function feedForward(g: GraphWriter, x: Value, { c, at }: Layer): Value {
  const { hidden_size: width, intermediate_size: inner, use_clipped_linears: clips } = c;
  const wide = (name: string) => bounded(g, x, at(`mlp.${name}`), { from: width, to: inner, clips });
  const gate = activation(g, wide('gate_proj'), c.hidden_activation);
  const product = g.node('Mul', [gate, wide('up_proj')]);
  return bounded(g, product, at('mlp.down_proj'), { from: inner, to: width, clips });
}

function layer(g: GraphWriter, x: Value, of: Layer): Value {
  const { c, at } = of;
  const attended = attend(g, normed(g, x, at('input_layernorm'), c), of);
  const middle = g.node('Add', [x, normed(g, attended, at('post_attention_layernorm'), c)]);
  const fed = feedForward(g, normed(g, middle, at('pre_feedforward_layernorm'), c), of);
  return g.node('Add', [middle, normed(g, fed, at('post_feedforward_layernorm'), c)]);
}

/** Means of squares of patches: float32 [rows, features, width]. */
function pooled(
  g: GraphWriter,
  x: Value,
  grid: Value,
  { hidden_size: width, pooling_kernel_size: edge }: Gemma4Images,
) {
  const [down, across] = g.nodes('Split', [g.node('Div', [grid, g.ints([edge], [])]), g.ints([1, 1])], {
    ...{ outputs: 2, attributes: { axis: 0 } },
  }) as [Value, Value];
  const shape = [g.ints([-1]), down, g.ints([edge]), across, g.ints([edge, width])];
  const squares = g.node('Reshape', [x, g.node('Concat', shape, { axis: 0 })]);
  const means = g.node('ReduceMean', [squares, g.ints([2, 4])], { keepdims: 0 });
  const all = g.node('Concat', [g.ints([-1]), g.node('Mul', [down, across]), g.ints([width])], { axis: 0 });
  return g.node('Reshape', [means, all]);
}

/** Vectors of columns or of lines. */
const tableOf = (g: GraphWriter, c: Gemma4Images) => (axis: 0 | 1, ids: Value) =>
  g.rows(
    `vision_tower.patch_embedder.position_embedding_table[${axis}]`,
    [c.position_embedding_size, c.hidden_size],
    ids,
  );

/** What images become: float32 [rows, features, width]. */
export function softTokens(g: GraphWriter, c: Gemma4Images): Value {
  const { pixels, numbers, grid, positions } = patchInputs(g, c.patch_size);
  const { hidden_size: width } = c;
  const centred = g.node('Sub', [g.node('Mul', [pixels, g.scalar(2)]), g.scalar(1)]);
  const size = { from: numbers, to: width, bias: false };
  const patches = linear(g, centred, 'vision_tower.patch_embedder.input_proj', size);
  let x = g.node('Add', [patches, learnedPositions(g, positions, tableOf(g, c))]);
  const turn = turnsOf(g, positions, c);
  for (let i = 0; i < c.num_hidden_layers; i++)
    x = layer(g, x, { c, turn, at: (name) => `vision_tower.encoder.layers.${i}.${name}` });
  const scaled = g.node('Mul', [pooled(g, x, grid, c), g.scalar(Math.sqrt(width))]);
  if (!c.standardize) return scaled;
  const [bias, scale] = ['bias', 'scale'].map((name) => g.weight(`vision_tower.std_${name}`, [width]));
  return g.node('Mul', [g.node('Sub', [scaled, bias!]), scale!]);
}
