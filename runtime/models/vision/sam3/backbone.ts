import { headWidth } from '../../layers/head-sizes.js';
import { linear } from '../../layers/linear.js';
import { layerNorm } from '../../layers/norm.js';
import { imageInput, patches } from '../../layers/patch-embed.js';
import { preNormLayer, type PreNormNames } from '../../layers/pre-norm-layer.js';
import { rotate, type Rotary } from '../../layers/rope.js';
import { rotaryFrequencies } from '../../layers/rope-frequencies.js';
import { fromWindows, intoWindows, paddedGrid } from '../../layers/window-partition.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { gridOf, type Sam3Backbone } from './config.js';

const BASE = 'vision_encoder.backbone.';

const NAMES: PreNormNames = {
  ...{ attentionNorm: 'layer_norm1', norm: 'layer_norm2', wide: 'mlp.fc1', narrow: 'mlp.fc2' },
  ...{ query: 'attention.q_proj', key: 'attention.k_proj', value: 'attention.v_proj' },
  output: 'attention.o_proj',
};

/** Positions of training, side by side as often as the grid needs: float32 [1, patches, width]. */
function tiledPositions(g: GraphWriter, c: Sam3Backbone): Value {
  const { hidden_size: width } = c;
  const own = gridOf({ image_size: c.pretrain_image_size, patch_size: c.patch_size });
  const edge = gridOf(c);
  const table = g.weight(`${BASE}embeddings.position_embeddings`, [1, own * own, width]);
  if (own === edge) return table;
  const grid = g.node('Reshape', [table, g.ints([1, own, own, width])]);
  const times = Math.floor(edge / own) + 1;
  const tiled = g.node('Tile', [grid, g.ints([1, times, times, 1])]);
  const cut = g.node('Slice', [tiled, g.ints([0, 0]), g.ints([edge, edge]), g.ints([1, 2])]);
  return g.node('Reshape', [cut, g.ints([1, edge * edge, width])]);
}

/** Half of a head's pairs turn by the column of a patch, half by its line: float32 [patches, width / 2] of a head. */
function anglesOf(g: GraphWriter, c: Sam3Backbone, edge: number): Value {
  const half = headWidth(c.hidden_size, c.num_attention_heads) / 2;
  const { values } = rotaryFrequencies({ rope_theta: c.rope_theta, max_position_embeddings: 1 }, half);
  // Whatever the grid, positions go from 0 to the edge of a window.
  const share = Math.fround(c.window_size / edge);
  const places = Array.from({ length: edge }, (_, i) => Math.fround(i * share));
  const turned = (dims: readonly number[]) => {
    const angles = g.node('Mul', [g.floats(places, dims), g.floats(values, [1, 1, values.length])]);
    return g.node('Expand', [angles, g.ints([edge, edge, values.length])]);
  };
  const both = g.node('Concat', [turned([1, edge, 1]), turned([edge, 1, 1])], { axis: 2 });
  return g.node('Reshape', [both, g.ints([edge * edge, 2 * values.length])]);
}

/** @param tokens float32 [rows, patches, width] of windows of this edge, or of whole images */
function turnsOf(g: GraphWriter, c: Sam3Backbone, edge: number, tokens: Value): Rotary {
  const angles = g.once(`angles of ${edge}`, () => anglesOf(g, c, edge));
  const numbers = g.ints(
    Array.from({ length: edge * edge }, (_, i) => i),
    [1, edge * edge],
  );
  const rows = g.node('Concat', [g.node('Shape', [tokens], { start: 0, end: 1 }), g.ints([1])], { axis: 0 });
  return {
    ...{ cosine: g.node('Cos', [angles]), sine: g.node('Sin', [angles]) },
    lines: g.node('Expand', [numbers, rows]),
    width: headWidth(c.hidden_size, c.num_attention_heads),
  };
}

/** Attention within windows, which are filled up with zeros, or among all: float32 [rows, patches, width]. */
function layer(g: GraphWriter, x: Value, c: Sam3Backbone, index: number): Value {
  const { hidden_size: width, num_attention_heads: heads } = c;
  const at = (name: string) => `${BASE}layers.${index}.${name}`;
  const edge = gridOf(c);
  const isWhole = c.window_size === 0 || c.global_attn_indexes.includes(index);
  const window = isWhole ? edge : c.window_size;
  const size = { edge: window, width };
  const grid = g.ints([Math.ceil(edge / window) * window, Math.ceil(edge / window) * window]);
  const parted = (read: Value) => {
    const image = g.node('Reshape', [read, g.ints([0, edge, edge, width])]);
    return intoWindows(g, paddedGrid(g, image, g.ints([edge, edge]), window).x, grid, size);
  };
  const joined = (found: Value) => {
    const image = fromWindows(g, found, grid, size);
    const cut = g.node('Slice', [image, g.ints([0, 0]), g.ints([edge, edge]), g.ints([1, 2])]);
    return g.node('Reshape', [cut, g.ints([0, edge * edge, width])]);
  };
  return preNormLayer(g, x, {
    ...{ width, inner: c.intermediate_size, heads, epsilon: c.layer_norm_eps, act: c.hidden_act },
    ...{ names: NAMES, at },
    project(_, read) {
      const tokens = isWhole ? read : parted(read);
      const turns = turnsOf(g, c, window, tokens);
      const project = (name: string) =>
        linear(g, tokens, at(`attention.${name}`), { from: width, to: width });
      const turn = (heading: Value) =>
        rotate(g, heading, turns, { heads, width: width / heads, interleaved: true });
      return { query: turn(project('q_proj')), key: turn(project('k_proj')), value: project('v_proj') };
    },
    behind: isWhole ? undefined : (_, found) => joined(found),
  });
}

/** What SAM 3's encoder of images says of each patch: float32 [rows, width, lines, columns]. */
export function sam3States(g: GraphWriter, c: Sam3Backbone): Value {
  const { hidden_size: width, patch_size: patch, image_size: pixels } = c;
  const { tokens } = patches(
    g,
    imageInput(g, c.num_channels, [pixels, pixels]),
    `${BASE}embeddings.patch_embeddings.projection`,
    { channels: c.num_channels, width, patch: [patch, patch], bias: false },
  );
  const placed = g.node('Add', [tokens, tiledPositions(g, c)]);
  let x = layerNorm(g, placed, `${BASE}layer_norm`, { width, epsilon: c.layer_norm_eps });
  for (let i = 0; i < c.num_hidden_layers; i++) x = layer(g, x, c, i);
  const turned = g.node('Transpose', [x], { perm: [0, 2, 1] });
  return g.node('Reshape', [turned, g.ints([0, width, gridOf(c), gridOf(c)])]);
}
