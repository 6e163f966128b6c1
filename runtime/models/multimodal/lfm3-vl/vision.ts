import * as z from 'zod';
import { channels } from '../../bases/vision/vit-config.js';
import { eachLayerIn, epsilon, layers, size } from '../../config-fields.js';
import { attention } from '../../layers/attention.js';
import { convolution } from '../../layers/convolution.js';
import { headGroup, headWidth } from '../../layers/head-sizes.js';
import { linear } from '../../layers/linear.js';
import { headNorm, rmsNorm } from '../../layers/norm.js';
import { type Rotary, rotate } from '../../layers/rope.js';
import { gatedFeedForward } from '../../layers/swiglu.js';
import { EXPERT_NAMES } from '../../text/lfm2.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { cellGrid, type CellGrid, inCells, patchTurns } from '../patch-cells.js';
import { repeatedHeads, small } from '../qwen2-vl/vision.js';

/** LFM3-VL's encoder of images of any size, whose layers convolve the grid of patches or attend. Lfm3VlVisionModel */

const axial = z.literal('axial', 'is none that this encoder turns patches by').optional();

export const lfm3Images = z
  .object({
    ...{ hidden_size: size.default(1024), intermediate_size: size.default(2560), in_channels: channels },
    ...{ patch_size: small.default(16), spatial_merge_size: small.default(2) },
    temporal_patch_size: small.default(2),
    rope_theta: z.number().positive().default(1e6),
    rope_scaling: z.object({ rope_type: axial, type: axial }).nullish(),
    ...{ num_hidden_layers: layers.default(14), num_attention_heads: size.default(16) },
    num_key_value_heads: size.default(8),
    layer_types: z.array(z.enum(['conv', 'full_attention'])).nullish(),
    conv_kernel_size: z
      .int()
      .min(1)
      .max(63)
      .refine((edge) => edge % 2 === 1, 'leaves no grid of its size')
      .default(3),
    norm_eps: epsilon.default(1e-5),
  })
  .refine(...eachLayerIn('layer_types'));
type Config = z.output<typeof lfm3Images>;

/** Where no list says it, every other layer attends from the third one on. */
const attends = ({ layer_types: types }: Config, layer: number): boolean =>
  types ? types[layer] === 'full_attention' : layer >= 2 && layer % 2 === 0;

interface Layer {
  c: Config;
  grid: CellGrid;
  turn: Rotary;
  at(name: string): string;
}

const normed = (g: GraphWriter, x: Value, name: string, c: Config): Value =>
  rmsNorm(g, x, name, { width: c.hidden_size, epsilon: c.norm_eps });

/** States of the patches of one image, cell by cell: float32 [1, patches, width]. */
export function patchStates(g: GraphWriter, c: Config): Value {
  const { hidden_size: width, spatial_merge_size: merge } = c;
  const grid = cellGrid(g, g.input('image_grid_thw', 'int64', [1, 3]), { merge, width });
  const turn = patchTurns(g, grid, headWidth(width, c.num_attention_heads), c.rope_theta);
  const numbers = c.in_channels * c.temporal_patch_size * c.patch_size ** 2;
  const pixels = g.input('pixel_values', 'float32', ['patches', numbers]);
  const patches = linear(g, pixels, 'vision_tower.patch_embed', { from: numbers, to: width, bias: false });
  let x = inCells(g, normed(g, patches, 'vision_tower.embedding_norm', c), grid, width);
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const of: Layer = { c, grid, turn, at: (name) => `vision_tower.layers.${i}.${name}` };
    const read = normed(g, x, of.at('operator_norm'), c);
    const middle = g.node('Add', [x, attends(c, i) ? attend(g, read, of) : convolve(g, read, of)]);
    const fed = gatedFeedForward(
      g,
      normed(g, middle, of.at('ffn_norm'), c),
      (name) => of.at(`feed_forward.${name}`),
      {
        ...{ width, inner: c.intermediate_size, act: 'silu', names: EXPERT_NAMES },
      },
    );
    x = g.node('Add', [middle, fed]);
  }
  return x;
}

function attend(g: GraphWriter, x: Value, { c, turn, at }: Layer): Value {
  const {
    hidden_size: from,
    num_attention_heads: heads,
    num_key_value_heads: keyHeads,
    norm_eps: epsilon,
  } = c;
  const width = headWidth(from, heads);
  const group = headGroup(heads, keyHeads);
  const part = (name: string, count: number) =>
    linear(g, x, at(`self_attn.${name}_proj`), { from, to: count * width, bias: false });
  const turned = (name: string, count: number) => {
    const size = { heads: count, width };
    return rotate(
      g,
      headNorm(g, part(name, count), at(`self_attn.${name}_norm`), { ...size, epsilon }),
      turn,
      size,
    );
  };
  const forAll = (value: Value) => repeatedHeads(g, value, { heads: keyHeads, width }, group);
  const seen = {
    query: turned('q', heads),
    key: forAll(turned('k', keyHeads)),
    value: forAll(part('v', keyHeads)),
  };
  const attended = attention(g, seen, { heads, width: from });
  return linear(g, attended, at('self_attn.out_proj'), { from, to: from, bias: false });
}

/** A convolution over the grid of patches between two gates: float32 [frames, patches, width]. */
function convolve(g: GraphWriter, x: Value, { c, grid, at }: Layer): Value {
  const { hidden_size: width, conv_kernel_size: edge } = c;
  const all = linear(g, x, at('conv.in_proj'), { from: width, to: 3 * width, bias: false });
  const [before, behind, own] = g.nodes('Split', [all, g.ints([width, width, width])], {
    ...{ outputs: 3, attributes: { axis: -1 } },
  }) as [Value, Value, Value];
  const map = gridOf(g, g.node('Mul', [before, own]), grid, width);
  const half = Math.floor(edge / 2);
  const found = convolution(g, map, at('conv.spatial_conv'), {
    ...{ from: width, to: width, groups: width, bias: false },
    ...{ kernel: [edge, edge], padding: [half, half] },
  });
  const patches = g.node('Mul', [behind, patchesOf(g, found, grid, width)]);
  return linear(g, patches, at('conv.out_proj'), { from: width, to: width, bias: false });
}

const sidesOf = (g: GraphWriter, { cells }: CellGrid) =>
  g.nodes('Split', [cells, g.ints([1, 1])], { outputs: 2, attributes: { axis: 0 } }) as [Value, Value];

/** Patches that lie cell by cell as an image: float32 [frames, width, lines, columns]. */
function gridOf(g: GraphWriter, x: Value, grid: CellGrid, width: number): Value {
  const [down, across] = sidesOf(g, grid);
  const inner = g.ints([grid.merge, grid.merge, width]);
  const cells = g.node('Reshape', [x, g.node('Concat', [grid.frames, down, across, inner], { axis: 0 })]);
  const lines = g.node('Transpose', [cells], { perm: [0, 5, 1, 3, 2, 4] });
  const sides = g.node('Mul', [grid.cells, g.ints([grid.merge], [])]);
  return g.node('Reshape', [lines, g.node('Concat', [grid.frames, g.ints([width]), sides], { axis: 0 })]);
}

/** The way back. */
function patchesOf(g: GraphWriter, x: Value, grid: CellGrid, width: number): Value {
  const [down, across] = sidesOf(g, grid);
  const merge = g.ints([grid.merge]);
  const shape = [grid.frames, g.ints([width]), down, merge, across, merge];
  const cells = g.node('Reshape', [x, g.node('Concat', shape, { axis: 0 })]);
  const rows = g.node('Transpose', [cells], { perm: [0, 2, 4, 3, 5, 1] });
  return g.node('Reshape', [rows, g.node('Concat', [grid.frames, g.ints([-1, width])], { axis: 0 })]);
}
