import * as z from 'zod';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { groupWidth } from '../layers/head-sizes.js';
import { linear } from '../layers/linear.js';
import {
  modulated,
  modulatedNorm,
  type Modulation,
  modulations,
  plainNorm,
} from '../layers/adaptive-norm.js';
import { type Rotary, rotate, turns } from '../layers/rope.js';
import { rotaryFrequencies } from '../layers/rope-frequencies.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';
import { layers, size } from '../config-fields.js';
import {
  attendTurned,
  type Joint,
  jointLayer,
  type JointSize,
  projections,
  withoutContext,
} from './joint-layer.js';
import { fromPatches, patchGrid, toPatches } from './patch-grid.js';
import { timeAndText } from './time.js';

const axis = z.int().min(2).max(1024);

const config = z.object({
  patch_size: z.literal(1, 'patches of other sizes are not known').default(1),
  ...{ in_channels: size.default(64), out_channels: size.nullish() },
  ...{ num_layers: layers.default(19), num_single_layers: layers.default(38) },
  ...{ attention_head_dim: size.default(128), num_attention_heads: size.default(24) },
  ...{ joint_attention_dim: size.default(4096), pooled_projection_dim: size.default(768) },
  guidance_embeds: z.boolean().default(false),
  axes_dims_rope: z.tuple([axis, axis, axis]).default([16, 56, 56]),
});
type Config = z.output<typeof config>;

/** Latents of a patch's edge: the pipeline puts four side by side. */
const EDGE = 2;
/** Times and guidance are told as parts of a thousand. */
const PER_UNIT = 1000;
const BASE = { rope_theta: 10_000, max_position_embeddings: 1 };

/** Angles by line and column of the image's patches; the text's tokens, which stand before them, are not turned. */
function anglesOf(g: GraphWriter, grid: Value, context: Value, { axes_dims_rope: axes }: Config): Rotary {
  const frequencies = axes.flatMap((width) => rotaryFrequencies(BASE, width).values);
  const [lines, columns] = g.nodes('Split', [grid, g.ints([1, 1])], { outputs: 2 }) as [Value, Value];
  const count = g.node('Squeeze', [g.node('Mul', [lines, columns])]);
  const patches = g.node('Range', [g.ints([0], []), count, g.ints([1], [])]);
  const positions = [
    g.node('Sub', [patches, patches]),
    g.node('Div', [patches, columns]),
    g.node('Mod', [patches, columns]),
  ].map((each) => g.node('Unsqueeze', [g.node('Cast', [each], { to: ELEMENTS.float32 }), g.ints([1])]));
  const axisOf = axes.flatMap((width, i) => Array<number>(width / 2).fill(i));
  const each = g.node('Gather', [g.node('Concat', positions, { axis: 1 }), g.ints(axisOf)], { axis: 1 });
  const texts = g.node('Shape', [context], { start: 1, end: 2 });
  const all = g.node('Pad', [each, g.node('Concat', [texts, g.ints([0, 0, 0])], { axis: 0 })]);
  const rows = g.node('Concat', [g.node('Shape', [context], { start: 0, end: 1 }), g.ints([1, 1])], {
    axis: 0,
  });
  const half = frequencies.length;
  return turns(g, g.node('Expand', [all, rows]), { frequencies: g.floats(frequencies, [1, 1, half]), half });
}

/** FluxSingleTransformerBlock of diffusers: attention and feed-forward side by side, over texts and images alike. */
function singleLayer(
  g: GraphWriter,
  x: Value,
  name: string,
  { by, ...attends }: JointSize & { by: Modulation },
): Value {
  const { width } = by;
  const inner = 4 * width;
  const [shift, scale, gate] = modulations(g, `${name}.norm`, by, 3) as [Value, Value, Value];
  const read = modulated(g, plainNorm(g, x, width), { shift, scale });
  const wide = linear(g, read, `${name}.proj_mlp`, { from: width, to: inner });
  const found = attendTurned(g, projections(g, read, `${name}.attn`, attends), attends);
  const both = g.node('Concat', [found, activation(g, wide, 'gelu_pytorch_tanh')], { axis: 2 });
  const output = linear(g, both, `${name}.proj_out`, { from: width + inner, to: width });
  return g.node('Add', [x, g.node('Mul', [gate, output])]);
}

function write(g: GraphWriter, c: Config): void {
  const { num_attention_heads: heads, attention_head_dim: headWidth, in_channels: from } = c;
  const [width, out] = [heads * headWidth, c.out_channels ?? from];
  if (c.axes_dims_rope.reduce((sum, one) => sum + one) !== headWidth)
    throw new GraphError(`config.json: axes_dims_rope don't make up a head of ${headWidth}`);
  const [channels, made] = [groupWidth(from, EDGE ** 2), groupWidth(out, EDGE ** 2)];
  const sample = g.input('sample', 'float32', ['rows', channels, 'height', 'width']);
  const time = g.input('timestep', 'float32', ['steps']);
  const texts = g.input('encoder_hidden_states', 'float32', ['rows', 'tokens', c.joint_attention_dim]);
  const pooled = g.input('pooled_projections', 'float32', ['rows', c.pooled_projection_dim]);
  const guidance = c.guidance_embeds
    ? g.node('Mul', [g.input('guidance', 'float32', ['rows']), g.scalar(PER_UNIT)])
    : undefined;
  const told = { time, pooled, guidance };
  const states = timeAndText(g, told, { width, pooledWidth: c.pooled_projection_dim });
  const by: Modulation = { states, from: width, width };
  const grid = patchGrid(g, sample, EDGE);
  const patches = toPatches(g, sample, grid, { channels, edge: EDGE });
  let x: Joint = {
    sample: linear(g, patches, 'x_embedder', { from, to: width }),
    context: linear(g, texts, 'context_embedder', { from: c.joint_attention_dim, to: width }),
  };
  const angles = anglesOf(g, grid, x.context, c);
  const turn = (value: Value) => rotate(g, value, angles, { heads, width: headWidth, interleaved: true });
  const attends = { heads, headWidth, normed: true, turn };
  for (let i = 0; i < c.num_layers; i++) x = jointLayer(g, x, `transformer_blocks.${i}`, { by, ...attends });
  let all = g.node('Concat', [x.context, x.sample], { axis: 1 });
  for (let i = 0; i < c.num_single_layers; i++)
    all = singleLayer(g, all, `single_transformer_blocks.${i}`, { by, ...attends });
  const last = modulatedNorm(g, withoutContext(g, all, x.context), 'norm_out', by);
  const found = linear(g, last, 'proj_out', { from: width, to: out });
  const noise = fromPatches(g, found, grid, { channels: made, edge: EDGE, order: 'channels first' });
  g.output('out_sample', noise, 'float32', ['rows', made, 'height', 'width']);
}

/** Flux.1, whose pipeline hands images over in patches of four latents; here the graph does. transformer_flux.py of diffusers */
export const flux = defineFamily({
  modelTypes: ['FluxTransformer2DModel'],
  limits: [
    '`true_cfg_scale` and adapters are unknown parameters.',
    'Networks larger than memory are not split.',
  ],
  config,
  prefixes: [],
  heads: { 'text-to-image': { transformer: write } },
});
