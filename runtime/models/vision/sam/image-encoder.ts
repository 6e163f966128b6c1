import type { z } from 'zod';
import { activation } from '../../layers/activation.js';
import { attention } from '../../layers/attention.js';
import { convolution2d } from '../../layers/convolution.js';
import { gridAttention } from '../../layers/decomposed-positions.js';
import { headWidth } from '../../layers/head-sizes.js';
import { linear } from '../../layers/linear.js';
import { channelNorm, channelsFirst, channelsLast, layerNorm } from '../../layers/norm.js';
import { imageInput } from '../../layers/patch-embed.js';
import { splitRows } from '../../layers/fused-projections.js';
import { fromWindows, intoWindows, paddedGrid } from '../../layers/window-partition.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import type { imageFields } from './config.js';

/** `inner`: width of feed-forward layers; `edge`: patches of a column and of a line. */
export type SamImages = z.output<typeof imageFields> & Record<'inner' | 'edge', number>;

/** Of norms without a setting. */
const EPSILON = 1e-6;

interface LayerOf {
  c: SamImages;
  at: (name: string) => string;
  /** Tokens along an edge of a window; undefined where all see each other. */
  window: number | undefined;
}

/** float32 [rows, lines, columns, width] */
function layer(g: GraphWriter, x: Value, of: LayerOf): Value {
  const { c, at, window } = of;
  const norm = { width: c.hidden_size, epsilon: c.layer_norm_eps };
  const read = layerNorm(g, x, at('layer_norm1'), norm);
  const found = window === undefined ? whole(g, read, of) : inWindows(g, read, { ...of, window });
  const middle = g.node('Add', [x, found]);
  const normed = layerNorm(g, middle, at('layer_norm2'), norm);
  const sizes = { from: c.hidden_size, to: c.inner };
  const wide = activation(g, linear(g, normed, at('mlp.lin1'), sizes), c.hidden_act);
  return g.node('Add', [middle, linear(g, wide, at('mlp.lin2'), { from: sizes.to, to: sizes.from })]);
}

function whole(g: GraphWriter, x: Value, { c, at }: LayerOf): Value {
  const tokens = g.node('Reshape', [x, g.ints([0, -1, c.hidden_size])]);
  const found = attended(g, tokens, { c, at, edge: c.edge });
  return g.node('Reshape', [found, g.ints([0, c.edge, c.edge, c.hidden_size])]);
}

/** Windows are filled up with zeros, which are seen like other tokens. */
function inWindows(g: GraphWriter, x: Value, { c, at, window: edge }: LayerOf & { window: number }): Value {
  const size = { edge, width: c.hidden_size };
  const padded = paddedGrid(g, x, g.ints([c.edge, c.edge]), edge);
  const windows = intoWindows(g, padded.x, padded.grid, size);
  const found = fromWindows(g, attended(g, windows, { c, at, edge }), padded.grid, size);
  return g.node('Slice', [found, g.ints([0, 0]), g.ints([c.edge, c.edge]), g.ints([1, 2])]);
}

/** @param x float32 [windows, tokens, width] */
function attended(
  g: GraphWriter,
  x: Value,
  { c, at, edge }: Pick<LayerOf, 'c' | 'at'> & { edge: number },
): Value {
  const { hidden_size: width, num_attention_heads: heads, qkv_bias: bias } = c;
  const all = linear(g, x, at('attn.qkv'), { from: width, to: 3 * width, bias });
  const projected = splitRows(g, all, { heads, keyHeads: heads, width: headWidth(width, heads) });
  const found = c.use_rel_pos
    ? gridAttention(g, projected, {
        ...{ heads, width, grid: [edge, edge] },
        tables: [at('attn.rel_pos_h'), at('attn.rel_pos_w')],
      })
    : attention(g, projected, { heads, width });
  return linear(g, found, at('attn.proj'), { from: width, to: width });
}

/** What is said of each patch of an image: float32 [rows, width, lines, columns]. */
export function samImages(g: GraphWriter, c: SamImages): Value {
  const pixels = imageInput(g, c.num_channels, [c.image_size, c.image_size]);
  return samNeck(g, samStates(g, c, pixels).at(-1)!, c, 'vision_encoder.neck');
}

/** What the patches are and what each layer gives: float32 [rows, lines, columns, width] each. */
export function samStates(g: GraphWriter, c: SamImages, pixels: Value): Value[] {
  const at = (name: string) => `vision_encoder.${name}`;
  const cut = convolution2d(g, pixels, at('patch_embed.projection'), {
    ...{ from: c.num_channels, to: c.hidden_size, kernel: c.patch_size, stride: c.patch_size, padding: 0 },
  });
  let x = channelsLast(g, cut);
  if (c.use_abs_pos) x = g.node('Add', [x, g.weight(at('pos_embed'), [1, c.edge, c.edge, c.hidden_size])]);
  const states = [x];
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const isWhole = c.window_size === 0 || c.global_attn_indexes.includes(i);
    const window = isWhole ? undefined : c.window_size;
    x = layer(g, x, { c, window, at: (name) => at(`layers.${i}.${name}`) });
    states.push(x);
  }
  return states;
}

/** A state in the width of what comes out: float32 [rows, width, lines, columns]. */
export function samNeck(g: GraphWriter, x: Value, c: SamImages, name: string): Value {
  const at = (part: string) => `${name}.${part}`;
  const to = c.output_channels;
  const norm = { width: to, epsilon: EPSILON };
  const narrow = { from: c.hidden_size, to, kernel: 1, bias: false };
  const first = convolution2d(g, channelsFirst(g, x), at('conv1'), narrow);
  const read = channelNorm(g, first, at('layer_norm1'), norm);
  const second = convolution2d(g, read, at('conv2'), { from: to, to, kernel: 3, bias: false });
  return channelNorm(g, second, at('layer_norm2'), norm);
}
