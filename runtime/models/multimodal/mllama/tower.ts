import { activation } from '../../layers/activation.js';
import { attention } from '../../layers/attention.js';
import { linear } from '../../layers/linear.js';
import { layerNorm } from '../../layers/norm.js';
import { patches } from '../../layers/patch-embed.js';
import { GraphError } from '../../writer/errors.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { betweenOf, patchesOf, ratiosOf, type Vision } from './config.js';

/** Of the norms around the layers: torch's, whatever the file says. */
const EPSILON = 1e-5;
/** Patches of a tile are filled up to a multiple of this. */
const STEP = 8;

const at = (name: string): string => `vision_model.${name}`;

/** tanh of a learned number, float32 [1]. */
export const gate = (g: GraphWriter, name: string): Value => g.node('Tanh', [g.weight(name, [1])]);

/**
 * What the tower makes of the tiles of one image: float32 [1, tiles · patches, width of the output]. Tiles beyond the image
 * are read, too. `pixel_values` [tiles, channels, edge, edge], `aspect_ratio_ids` [1], `aspect_ratio_mask` [1, tiles].
 */
export function writeTower(g: GraphWriter, c: Vision): Value {
  const { max_num_tiles: tiles, hidden_size: width } = c;
  const [own, length] = [patchesOf(c), Math.ceil(patchesOf(c) / STEP) * STEP];
  const id = g.input('aspect_ratio_ids', 'int64', [1]);
  const order = orderOf(g, g.input('aspect_ratio_mask', 'int64', [1, tiles]), { tiles, own, length });
  const placed = layerNorm(g, embedded(g, c, id), at('layernorm_pre'), { width, epsilon: EPSILON });
  const filled = g.node('Pad', [placed, g.ints([0, 0, 0, 0, length - own, 0])]);
  const flat = g.node('Reshape', [filled, g.ints([1, tiles * length, width])]);
  let x = g.node('Gather', [flat, order.all], { axis: 1 });
  const between: Value[] = [];
  for (let i = 0; i < c.num_hidden_layers; i++) {
    x = layer(g, x, { c, order, name: `transformer.layers.${i}`, gated: false });
    between.push(x);
  }
  x = g.node('Add', [
    layerNorm(g, x, at('layernorm_post'), { width, epsilon: EPSILON }),
    behind(g, c, id, { order, length }),
  ]);
  for (let i = 0; i < c.num_global_layers; i++)
    x = layer(g, x, { c, order, name: `global_transformer.layers.${i}`, gated: true });
  const all = joined(g, x, chosen(between, c));
  const features = width * (1 + betweenOf(c).length);
  const inPlace = g.node('Reshape', [
    ...[g.node('Gather', [all, order.back], { axis: 1 }), g.ints([tiles, length, features])],
  ]);
  const seen = g.node('Slice', [inPlace, g.ints([0]), g.ints([own]), g.ints([1])]);
  return g.node('Reshape', [seen, g.ints([1, tiles * own, features])]);
}

/** The last states, then for each number of a state those of the chosen layers. */
function joined(g: GraphWriter, last: Value, between: readonly Value[]): Value {
  if (between.length === 0) return last;
  const apart = between.map((x) => g.node('Unsqueeze', [x, g.ints([3])]));
  const stacked = g.node('Reshape', [g.node('Concat', apart, { axis: 3 }), g.ints([0, 0, -1])]);
  return g.node('Concat', [last, stacked], { axis: 2 });
}

function chosen(between: readonly Value[], c: Vision): Value[] {
  return betweenOf(c).map((i) => {
    if (i < between.length) return between[i]!;
    throw new GraphError(`config.json: intermediate_layers_indices names layer ${i} of ${between.length}`);
  });
}

/** Patches of all tiles behind their class, in their positions: float32 [tiles, patches, width]. */
function embedded(g: GraphWriter, c: Vision, id: Value): Value {
  const { max_num_tiles: tiles, hidden_size: width, num_channels: count, image_size: edge } = c;
  const pixels = g.input('pixel_values', 'float32', [tiles, count, edge, edge]);
  const size = { channels: count, width, patch: [c.patch_size, c.patch_size], bias: false } as const;
  const { tokens } = patches(g, pixels, at('patch_embedding'), size);
  const tiled = g.node('Add', [tokens, ofTiles(g, c, id, 'pre_tile_positional_embedding')]);
  const one = g.node('Reshape', [g.weight(at('class_embedding'), [width]), g.ints([1, 1, width])]);
  const first = g.node('Expand', [one, g.ints([tiles, 1, width])]);
  const x = g.node('Concat', [first, tiled], { axis: 1 });
  const own = patchesOf(c);
  const name = at('gated_positional_embedding');
  const share = gate(g, `${name}.gate`);
  const everywhere = g.node('Mul', [
    ...[g.node('Sub', [g.scalar(1), share]), g.weight(`${name}.embedding`, [own, width])],
  ]);
  const rows = ratiosOf(c) + 1;
  const found = g.rows(`${name}.tile_embedding.weight`, [rows, tiles * own * width], id);
  const byTile = g.node('Mul', [share, g.node('Reshape', [found, g.ints([tiles, own, width])])]);
  return g.node('Add', [g.node('Add', [x, everywhere]), byTile]);
}

/** What the form of an image adds to each tile: float32 [tiles, 1, width]. */
function ofTiles(g: GraphWriter, c: Vision, id: Value, part: string): Value {
  const { max_num_tiles: tiles, hidden_size: width } = c;
  const found = g.rows(at(`${part}.embedding.weight`), [ratiosOf(c) + 1, tiles * width], id);
  return g.node('Mul', [g.node('Reshape', [found, g.ints([tiles, 1, width])]), gate(g, at(`${part}.gate`))]);
}

/** What the form of an image adds between the two transformers, in their order. */
function behind(
  g: GraphWriter,
  c: Vision,
  id: Value,
  { order, length }: { order: Order; length: number },
): Value {
  const { max_num_tiles: tiles, hidden_size: width } = c;
  const each = g.node('Expand', [
    ofTiles(g, c, id, 'post_tile_positional_embedding'),
    g.ints([tiles, length, width]),
  ]);
  return g.node('Gather', [g.node('Reshape', [each, g.ints([1, tiles * length, width])]), order.all], {
    axis: 1,
  });
}

/** Patches of the image first, then those that fill up: int64 each. */
interface Order {
  /** [tiles · length] */
  all: Value;
  /** The way back. */
  back: Value;
  /** [1]: how many are the image's. */
  count: Value;
}

/**
 * What fills up sees the image and is seen by it, but not by what fills up: sorted so, each of the two is attention
 * without a mask.
 */
function orderOf(
  g: GraphWriter,
  mask: Value,
  { tiles, own, length }: { tiles: number; own: number; length: number },
): Order {
  const places = g.ints(
    Array.from({ length }, (_, i) => (i < own ? 1 : 0)),
    [1, length],
  );
  const seen = g.node('Greater', [
    ...[g.node('Mul', [g.node('Reshape', [mask, g.ints([tiles, 1])]), places]), g.ints([0], [])],
  ]);
  const flat = g.node('Reshape', [seen, g.ints([-1])]);
  const where = (x: Value) => g.node('Reshape', [g.node('NonZero', [x]), g.ints([-1])]);
  const first = where(flat);
  const all = g.node('Concat', [first, where(g.node('Not', [flat]))], { axis: 0 });
  const numbers = g.ints(Array.from({ length: tiles * length }, (_, i) => i));
  return {
    all,
    back: g.node('ScatterElements', [numbers, all, numbers], { axis: 0 }),
    count: g.node('Shape', [first]),
  };
}

interface LayerOf {
  c: Vision;
  order: Order;
  name: string;
  /** What it adds is multiplied by learned shares. */
  gated: boolean;
}

function layer(g: GraphWriter, x: Value, { c, order, name, gated }: LayerOf): Value {
  const { hidden_size: width, intermediate_size: inner } = c;
  const part = (own: string) => at(`${name}.${own}`);
  const size = { width, epsilon: c.norm_eps };
  const add = (to: Value, found: Value, share: string) =>
    g.node('Add', [to, gated ? g.node('Mul', [gate(g, part(share)), found]) : found]);
  const read = layerNorm(g, x, part('input_layernorm'), size);
  const middle = add(x, attend(g, read, { c, order, at: part }), 'gate_attn');
  const normed = layerNorm(g, middle, part('post_attention_layernorm'), size);
  const wide = activation(g, linear(g, normed, part('mlp.fc1'), { from: width, to: inner }), c.hidden_act);
  return add(middle, linear(g, wide, part('mlp.fc2'), { from: inner, to: width }), 'gate_ffn');
}

function attend(
  g: GraphWriter,
  x: Value,
  { c, order, at: part }: Pick<LayerOf, 'c' | 'order'> & { at(name: string): string },
): Value {
  const { hidden_size: width, attention_heads: heads } = c;
  const project = (from: Value, name: string) =>
    linear(g, from, part(`self_attn.${name}_proj`), { from: width, to: width, bias: false });
  const [query, key, value] = ['q', 'k', 'v'].map((name) => project(x, name)) as [Value, Value, Value];
  const image = (from: Value) => g.node('Slice', [from, g.ints([0]), order.count, g.ints([1])]);
  const rest = g.node('Slice', [query, order.count, g.ints([2 ** 53]), g.ints([1])]);
  const [first, last] = [
    attention(g, { query: image(query), key, value }, { heads, width }),
    attention(g, { query: rest, key: image(key), value: image(value) }, { heads, width }),
  ];
  return project(g.node('Concat', [first, last], { axis: 1 }), 'o');
}
