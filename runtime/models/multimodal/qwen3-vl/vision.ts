import * as z from 'zod';
import { activation } from '../../layers/activation.js';
import { headWidth } from '../../layers/head-sizes.js';
import { linear, lookedUp } from '../../layers/linear.js';
import { layerNorm } from '../../layers/norm.js';
import { GraphError } from '../../writer/errors.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { ELEMENTS } from '../../writer/tensors.js';
import { layers, size } from '../../config-fields.js';
import { channels } from '../../bases/vision/vit-config.js';
import { cellGrid, type CellGrid, inCells, inOrder, linesAndColumns, patchTurns } from '../patch-cells.js';
import { embeddedPatches, patchLayer, small, type VisionModel } from '../qwen2-vl/vision.js';

export const vision3Config = z.object({
  depth: layers.default(27),
  hidden_size: size.default(1152),
  hidden_act: z.string().default('gelu_pytorch_tanh'),
  intermediate_size: size.default(4304),
  num_heads: size.default(16),
  in_channels: channels,
  patch_size: small.default(16),
  spatial_merge_size: small.default(2),
  temporal_patch_size: small.default(2),
  out_hidden_size: size.default(3584),
  num_position_embeddings: size.default(2304),
  deepstack_visual_indexes: z.array(z.int().min(0)).max(64).default([8, 16, 24]),
});
export type Vision3Config = z.output<typeof vision3Config>;

const EPSILON = 1e-6;

function modelOf(c: Vision3Config): VisionModel {
  const { hidden_size: width, intermediate_size: inner } = c;
  return {
    ...{ width, layers: c.depth, heads: c.num_heads, merge: c.spatial_merge_size, to: c.out_hidden_size },
    patch: {
      ...{ channels: c.in_channels, frames: c.temporal_patch_size, edge: c.patch_size, bias: true },
    },
    seesAll: () => true,
    norm: (g, x, name) => layerNorm(g, x, name, { width, epsilon: EPSILON }),
    feedForward(g, x, at) {
      const wide = linear(g, x, at('linear_fc1'), { from: width, to: inner });
      return linear(g, activation(g, wide, c.hidden_act), at('linear_fc2'), { from: inner, to: width });
    },
  };
}

/** Layers behind which features are taken beside the last ones, in their order; each has a merger of its own. */
export const deepLayers = ({ depth, deepstack_visual_indexes: named }: Vision3Config): number[] =>
  [...new Set(named)].filter((layer) => layer < depth).toSorted((a, b) => a - b);

/**
 * `image_features` [features, width · (1 + deep layers)]: what Qwen2-VL's encoder gives, with positions that are learned, and behind it what deep
 * layers give. Inputs are the same.
 */
export function writeDeepEncoder(g: GraphWriter, c: Vision3Config, names = MERGERS): void {
  const model = modelOf(c);
  const { width, to } = model;
  const grid = cellGrid(g, g.input('image_grid_thw', 'int64', [1, 3]), model);
  const turn = patchTurns(g, grid, headWidth(width, model.heads));
  const tokens = inCells(g, embeddedPatches(g, model), grid, width);
  const deep = deepLayers(c);
  const features: Value[] = [];
  let x = g.node('Add', [tokens, positionsOf(g, grid, c)]);
  for (let layer = 0; layer < model.layers; layer++) {
    x = patchLayer(g, x, { model, layer, grid, turn });
    if (!deep.includes(layer)) continue;
    const name = `visual.${names.deep}.${c.deepstack_visual_indexes.indexOf(layer)}`;
    features.push(merged(g, x, { model, grid, name, names, isDeep: true }));
  }
  features.unshift(merged(g, x, { model, grid, name: 'visual.merger', names, isDeep: false }));
  const all = features.length === 1 ? features[0]! : g.node('Concat', features, { axis: -1 });
  g.output('image_features', all, 'float32', ['features', to * features.length]);
}

/** Names of mergers of deep layers, and of a merger's parts. */
export interface MergerNames {
  deep: string;
  norm: string;
  wide: string;
  narrow: string;
}

const MERGERS: MergerNames = {
  ...{ deep: 'deepstack_merger_list', norm: 'norm', wide: 'linear_fc1', narrow: 'linear_fc2' },
};

interface Merger {
  names: MergerNames;
  model: VisionModel;
  grid: CellGrid;
  name: string;
  /** Its norm goes over whole cells. */
  isDeep: boolean;
}

/** A feature for each cell: float32 [features, width]. */
function merged(g: GraphWriter, x: Value, { model, grid, name, names, isDeep }: Merger): Value {
  const joined = model.width * model.merge * model.merge;
  const norm = (value: Value, width: number) =>
    layerNorm(g, value, `${name}.${names.norm}`, { width, epsilon: EPSILON });
  const cells = isDeep
    ? norm(inOrder(g, x, grid, joined), joined)
    : inOrder(g, norm(x, model.width), grid, joined);
  const wide = g.node('Gelu', [linear(g, cells, `${name}.${names.wide}`, { from: joined, to: joined })]);
  return linear(g, wide, `${name}.${names.narrow}`, { from: joined, to: model.to });
}

/**
 * Vectors of the positions of a frame's patches, cell by cell, between those of a square table's nearest ones: float32 [patches, width].
 * @throws GraphError for a table that is no square
 */
function positionsOf(g: GraphWriter, { cells, merge }: CellGrid, c: Vision3Config): Value {
  const { num_position_embeddings: rows, hidden_size: width } = c;
  const side = Math.floor(Math.sqrt(rows));
  if (side * side > rows || side < 1)
    throw new GraphError(`config.json: num_position_embeddings ${rows} make no square`);
  const positions = linesAndColumns(g, { frames: g.ints([1]), cells, merge });
  const counts = g.node('Cast', [g.node('Mul', [cells, g.ints([merge], [])])], { to: ELEMENTS.float32 });
  const [line, column] = [0, 1].map((axis) => {
    const own = g.node('Gather', [positions, g.ints([axis], [])], { axis: 1 });
    return spread(g, own, g.node('Gather', [counts, g.ints([axis], [])]), side);
  }) as [Spread, Spread];
  const corners = (['first', 'next'] as const).flatMap((down) =>
    (['first', 'next'] as const).map((across) => {
      const at = g.node('Add', [
        ...[g.node('Mul', [line[down].row, g.ints([side], [])]), column[across].row],
      ]);
      const share = g.node('Mul', [line[down].share, column[across].share]);
      const vectors = lookedUp(g, at, 'visual.pos_embed.weight', { rows, width });
      return g.node('Mul', [vectors, g.node('Unsqueeze', [share, g.ints([1])])]);
    }),
  );
  return g.node('Sum', corners);
}

/** Neighbours in a table: int64 [patches], and how much of each, float32 [patches]. */
interface Spread {
  first: { row: Value; share: Value };
  next: { row: Value; share: Value };
}

/**
 * Where the n-th of `count` lines lies in a table of `side` lines, from its first one to its last, as torch.linspace has it: from the nearest
 * end on.
 * @param lines float32 [patches] @param count float32 scalar
 */
function spread(g: GraphWriter, lines: Value, count: Value, side: number): Spread {
  const [one, last] = [g.scalar(1), g.scalar(side - 1)];
  const ends = g.node('Sub', [count, one]);
  const step = g.node('Div', [last, g.node('Max', [ends, one])]);
  const half = g.node('Floor', [g.node('Div', [count, g.scalar(2)])]);
  const fromEnd = g.node('Sub', [last, g.node('Mul', [step, g.node('Sub', [ends, lines])])]);
  const place = g.node('Where', [
    ...[g.node('Less', [lines, g.node('Max', [half, one])]), g.node('Mul', [step, lines]), fromEnd],
  ]);
  const floor = g.node('Floor', [place]);
  const share = g.node('Sub', [place, floor]);
  const row = (value: Value) => g.node('Cast', [value], { to: ELEMENTS.int64 });
  return {
    first: { row: row(floor), share: g.node('Sub', [one, share]) },
    next: { row: row(g.node('Min', [g.node('Add', [floor, one]), last])), share },
  };
}
