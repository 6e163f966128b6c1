import * as z from 'zod';
import { layers, size } from '../../config-fields.js';
import { headWidth } from '../../layers/head-sizes.js';
import { matMulTransposed } from '../../layers/linear.js';
import { layerNorm } from '../../layers/norm.js';
import { preNormLayer, type PreNormNames } from '../../layers/pre-norm-layer.js';
import { rotate } from '../../layers/rope.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { cellGrid, type CellGrid, inCells, pairedTurns, resizedPositions } from '../patch-cells.js';
import { small } from '../qwen2-vl/vision.js';

/** Kimi's encoder of images of any size (MoonViT), under the names that its makers have for it. Kimi_K25VisionModel */

const axial = z.literal('axial', 'is none that this encoder turns patches by');

export const kimiImages = z
  .object({
    patch_size: small.default(14),
    ...{
      pos_emb_height: small.default(64),
      pos_emb_width: small.default(64),
      pos_emb_time: small.default(4),
    },
    ...{ num_attention_heads: size.default(16), num_hidden_layers: layers.default(27) },
    ...{ hidden_size: size.default(1152), intermediate_size: size.default(4304) },
    hidden_act: z.string().default('gelu_pytorch_tanh'),
    merge_kernel_size: z.array(small).length(2).default([2, 2]),
    rope_theta: z.number().positive().default(10_000),
    rope_scaling: z.object({ rope_type: axial.default('axial'), type: axial.optional() }).nullish(),
  })
  .refine((c) => c.pos_emb_height === c.pos_emb_width, {
    ...{ message: 'is not pos_emb_height: the table is no square', path: ['pos_emb_width'] },
  })
  .refine((c) => c.merge_kernel_size[0] === c.merge_kernel_size[1], {
    ...{ message: 'is no square', path: ['merge_kernel_size'] },
  });
type Config = z.output<typeof kimiImages>;

const CHANNELS = 3;
const EPSILON = 1e-5;
const NAMES: PreNormNames = {
  ...{ attentionNorm: 'norm0', query: 'wqkv', output: 'wo' },
  ...{ norm: 'norm1', wide: 'mlp.fc0', narrow: 'mlp.fc1' },
};

/** States of the patches of one image, cell by cell: float32 [1, patches, width]. */
export function patchStates(g: GraphWriter, c: Config): Value {
  const { hidden_size: width, num_attention_heads: heads, intermediate_size: inner } = c;
  const merge = c.merge_kernel_size[0]!;
  const grid = cellGrid(g, g.input('image_grid_thw', 'int64', [1, 3]), { merge, width });
  const ofHead = { heads, width: headWidth(width, heads), interleaved: true };
  const turn = pairedTurns(g, grid, ofHead.width, c.rope_theta);
  let x = g.node('Add', [inCells(g, embedded(g, c), grid, width), positionsOf(g, grid, c)]);
  for (let i = 0; i < c.num_hidden_layers; i++)
    x = preNormLayer(g, x, {
      ...{ width, inner, heads, epsilon: EPSILON, act: c.hidden_act, names: NAMES },
      at: (name) => `vision_tower.encoder.blocks.${i}.${name}`,
      turn: (value) => rotate(g, value, turn, ofHead),
    });
  return layerNorm(g, x, 'vision_tower.encoder.final_layernorm', { width, epsilon: EPSILON });
}

function embedded(g: GraphWriter, { hidden_size: width, patch_size: edge }: Config): Value {
  const numbers = CHANNELS * edge * edge;
  const pixels = g.input('pixel_values', 'float32', ['patches', numbers]);
  const at = (name: string) => `vision_tower.patch_embed.proj.${name}`;
  const weight = g.weight(at('weight'), [width, CHANNELS, edge, edge]);
  const found = matMulTransposed(g, pixels, g.node('Reshape', [weight, g.ints([width, numbers])]));
  return g.node('Add', [found, g.weight(at('bias'), [width])]);
}

function positionsOf(
  g: GraphWriter,
  grid: CellGrid,
  { hidden_size: width, pos_emb_height: side }: Config,
): Value {
  const table = g.weight('vision_tower.patch_embed.pos_emb.weight', [side, side, width]);
  const flat = g.node('Reshape', [table, g.ints([side * side, width])]);
  return resizedPositions(g, grid, { table: flat, side, width, mode: 'cubic' });
}
