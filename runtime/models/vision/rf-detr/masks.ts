import { activation } from '../../layers/activation.js';
import { convolution2d } from '../../layers/convolution.js';
import { linear } from '../../layers/linear.js';
import { channelsFirst, channelsLast, layerNorm } from '../../layers/norm.js';
import { gridOf, resize } from '../../layers/patch-embed.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import type { RfDetrConfig } from './config.js';

/** Of norms of features, and of queries. */
const [FEATURES_EPSILON, QUERIES_EPSILON] = [1e-6, 1e-5];
const NAME = 'segmentation_head';

/** Features of a block: float32 [rows, width, lines, columns] of the same. RfDetrSegmentationBlock */
function block(g: GraphWriter, x: Value, name: string, c: RfDetrConfig): Value {
  const width = c.d_model;
  const size = { from: width, to: width, kernel: 3, groups: width };
  const near = channelsLast(g, convolution2d(g, x, `${name}.dwconv`, size));
  const normed = layerNorm(g, near, `${name}.norm`, { width, epsilon: FEATURES_EPSILON });
  const wide = linear(g, normed, `${name}.pwconv1`, { from: width, to: width });
  const act = c.segmentation_head_activation_function;
  return g.node('Add', [channelsFirst(g, activation(g, wide, act)), x]);
}

/** float32 [rows, queries, width] of the same. RfDetrSegmentationMLPBlock */
function askedFor(g: GraphWriter, states: Value, c: RfDetrConfig): Value {
  const [width, inner] = [c.d_model, c.intermediate_size];
  const at = `${NAME}.query_features_block`;
  const read = layerNorm(g, states, `${at}.norm_in`, { width, epsilon: QUERIES_EPSILON });
  const wide = linear(g, read, `${at}.layers.0`, { from: width, to: inner });
  const active = activation(g, wide, c.segmentation_head_activation_function);
  const fed = linear(g, active, `${at}.layers.2`, { from: inner, to: width });
  const size = { from: width, to: width };
  return linear(g, g.node('Add', [fed, states]), `${NAME}.query_features_proj`, size);
}

interface Seen {
  pixels: Value;
  features: Value;
  states: Value;
}

/** Logits of where each query is, in a part of the image's size: float32 [rows, queries, lines, columns]. */
export function rfDetrMasks(g: GraphWriter, { pixels, features, states }: Seen, c: RfDetrConfig): Value {
  const grid = g.node('Div', [gridOf(g, pixels), g.ints([c.mask_downsample_ratio])]);
  const rows = g.node('Shape', [features], { start: 0, end: 2 });
  let x = resize(g, features, g.node('Concat', [rows, grid], { axis: 0 }), { mode: 'linear' });
  for (let i = 0; i < c.decoder_layers; i++) x = block(g, x, `${NAME}.blocks.${i}`, c);
  const size = { from: c.d_model, to: c.d_model, kernel: 1 };
  const positions = convolution2d(g, x, `${NAME}.spatial_features_proj`, size);
  const flat = g.node('Reshape', [positions, g.ints([0, 0, -1])]);
  const scores = g.node('MatMul', [askedFor(g, states, c), flat]);
  const masks = g.node('Add', [scores, g.weight(`${NAME}.bias`, [1])]);
  return g.node('Reshape', [masks, g.node('Concat', [g.ints([0, 0]), grid], { axis: 0 })]);
}
