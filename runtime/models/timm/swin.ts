import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { attention } from '../layers/attention.js';
import { gridDistances } from '../layers/relative-position-index.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { type Edges, patches, imageInput } from '../layers/patch-embed.js';
import { splitRows } from '../layers/fused-projections.js';
import { bucketBias } from '../layers/t5-relative-bias.js';
import { headWidth } from '../layers/head-sizes.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { fourTogether, ofAllRows, throughWindows } from '../bases/vision/shifted-windows.js';
import { countOf, inputEdges, shapeOf, type TimmConfig, timmConfig, timmHeads } from './config.js';

const EPSILON = 1e-5;

interface Place {
  at: (name: string) => string;
  /** Tokens of a column and of a line. */
  edges: Edges;
  width: number;
  isShifted: boolean;
}

/** Of windows, by the rows of the table of their distances. @throws GraphError where they don't part a square grid */
function windowOf(g: GraphWriter, name: string, edges: Edges): { edge: number; heads: number } {
  const [rows, heads] = shapeOf(g, name, 2);
  const edge = (Math.sqrt(rows) + 1) / 2;
  const [lines, columns] = edges;
  if (Number.isInteger(edge) && lines === columns && lines % edge === 0) return { edge, heads };
  throw new GraphError(
    `no graph can be written: ${name} has ${rows} rows, which are of no windows of ${edges.join(' x ')} tokens`,
  );
}

/** Tokens float32 [rows, tokens, width], which every second layer looks at through windows moved by half of their edge. */
function layer(g: GraphWriter, x: Value, { at, edges, width, isShifted }: Place): Value {
  const table = at('attn.relative_position_bias_table');
  const { edge, heads } = windowOf(g, table, edges);
  const grid = g.ints(edges);
  const shift = isShifted && Math.min(...edges) > edge ? g.ints([Math.floor(edge / 2)]) : undefined;
  const normed = (value: Value, name: string) => layerNorm(g, value, at(name), { width, epsilon: EPSILON });
  const found = throughWindows(g, normed(x, 'norm1'), { grid, shift, edge, width }, (windows, mask) => {
    const cells = g.once(`swin distances ${edge}`, () => gridDistances(g, [edge, edge]));
    const bias = bucketBias(g, cells, g.weight(table, [(2 * edge - 1) ** 2, heads]));
    const fused = linear(g, windows, at('attn.qkv'), { from: width, to: 3 * width, bias: 'if present' });
    const projected = splitRows(g, fused, { heads, keyHeads: heads, width: headWidth(width, heads) });
    const added = mask === undefined ? bias : ofAllRows(g, g.node('Add', [bias, mask]), windows);
    const seen = attention(g, projected, { heads, width, bias: added });
    return linear(g, seen, at('attn.proj'), { from: width, to: width });
  });
  const middle = g.node('Add', [x, found]);
  const [inner] = shapeOf(g, at('mlp.fc1.weight'), 2);
  const wide = linear(g, normed(middle, 'norm2'), at('mlp.fc1'), { from: width, to: inner });
  const narrow = linear(g, activation(g, wide, 'gelu'), at('mlp.fc2'), { from: inner, to: width });
  return g.node('Add', [middle, narrow]);
}

/** Four neighbours become one token. */
function merged(
  g: GraphWriter,
  x: Value,
  at: (name: string) => string,
  { edges, width }: Omit<Place, 'at' | 'isShifted'>,
) {
  const [to] = shapeOf(g, at('reduction.weight'), 2);
  const four = fourTogether(g, x, g.ints(edges), width);
  const normed = layerNorm(g, four, at('norm'), { width: 4 * width, epsilon: EPSILON });
  return linear(g, normed, at('reduction'), { from: 4 * width, to, bias: false });
}

function states(g: GraphWriter, c: TimmConfig): Value {
  const [first, channels, patch] = shapeOf(g, 'patch_embed.proj.weight', 4);
  const pixels = imageInput(g, channels, inputEdges(c));
  const cut = { channels, width: first, patch: [patch, patch] as const };
  const { tokens } = patches(g, pixels, 'patch_embed.proj', cut);
  let edges = inputEdges(c).map((edge) => Math.floor(edge / patch)) as [number, number];
  let width = first;
  let x = layerNorm(g, tokens, 'patch_embed.norm', { width, epsilon: EPSILON });
  const stages = countOf(g, (stage) => `layers.${stage}.blocks.0.norm1.weight`);
  for (let stage = 0; stage < stages; stage++) {
    const inStage = (name: string) => `layers.${stage}.${name}`;
    if (stage > 0) {
      x = merged(g, x, (name) => inStage(`downsample.${name}`), { edges, width });
      edges = edges.map((edge) => Math.ceil(edge / 2)) as [number, number];
      [width] = shapeOf(g, inStage('downsample.reduction.weight'), 2);
    }
    const count = countOf(g, (place) => inStage(`blocks.${place}.norm1.weight`));
    for (let i = 0; i < count; i++) {
      const at = (name: string) => inStage(`blocks.${i}.${name}`);
      x = layer(g, x, { at, edges, width, isShifted: i % 2 === 1 });
    }
  }
  const normed = layerNorm(g, x, 'norm', { width, epsilon: EPSILON });
  return g.node('Reshape', [normed, g.ints([0, ...edges, width])]);
}

/** timm's swin_transformer.py */
export const timmSwin = defineFamily({
  modelTypes: ['timm_swin'],
  config: timmConfig,
  prefixes: ['timm_model.'],
  heads: timmHeads({
    shape: ['rows', 'lines', 'columns', 'channels'],
    states,
    pool: (g, x) => g.node('ReduceMean', [x, g.ints([1, 2])], { keepdims: 0 }),
    head: 'head.fc',
  }),
});
