import type { z } from 'zod';
import { type Family, defineFamily } from '../family.js';
import { attention } from '../layers/attention.js';
import { headWidth } from '../layers/head-sizes.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { odds, mlp } from '../layers/mlp.js';
import { placedParts } from '../layers/detr-layer.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { labelCount, size } from '../config-fields.js';
import { detrConfig, encodedImage, type Encoded } from './detr.js';

const config = detrConfig.extend({
  num_queries: size.default(300),
});
type Config = z.output<typeof config>;

/** Of waves of positions: the slowest is so much slower. */
const BASE = 10_000;

/** Waves of a position's line, then of its column: float32 [1, queries, width]. @param positions [1, queries, 2], column first */
function waves(g: GraphWriter, positions: Value, width: number): Value {
  const half = width / 2;
  const rates = Array.from(
    { length: half },
    (_, i) => (2 * Math.PI) / BASE ** ((2 * Math.floor(i / 2)) / half),
  );
  // A cosine is a sine a quarter of a turn on.
  const start = g.floats(rates.map((_, i) => ((i % 2) * Math.PI) / 2));
  const [column, line] = g.nodes('Split', [positions, g.ints([1, 1])], {
    ...{ outputs: 2, attributes: { axis: 2 } },
  }) as [Value, Value];
  const parts = [line, column].map((place) =>
    g.node('Add', [g.node('Mul', [place, g.floats(rates)]), start]),
  );
  return g.node('Sin', [g.node('Concat', parts, { axis: 2 })]);
}

interface Queries {
  /** float32 [rows, queries, width] */
  x: Value;
  /** float32 [1, queries, width]: learned, and as waves of a position in the image. */
  learned: Value;
  waves: Value;
}

interface LayerOf {
  c: Config;
  layer: number;
  encoded: Encoded;
}

/** Heads of two kinds of states side by side: float32 [rows, tokens, 2 · width]. */
function beside(g: GraphWriter, [x, y]: readonly [Value, Value], c: Config): Value {
  const [width, heads] = [c.d_model, c.decoder_attention_heads];
  const parted = (value: Value) => g.node('Reshape', [value, g.ints([0, 0, heads, headWidth(width, heads)])]);
  const shape = g.node('Shape', [parted(x)]);
  const both = g.node('Concat', [parted(x), g.node('Expand', [parted(y), shape])], { axis: 3 });
  return g.node('Reshape', [both, g.ints([0, 0, 2 * width])]);
}

/** What queries look for and where they look are kept apart. */
function decoderLayer(
  g: GraphWriter,
  { x, learned, waves: place }: Queries,
  { c, layer, encoded }: LayerOf,
): Value {
  const { source, common } = encoded;
  const [width, heads] = [c.d_model, c.decoder_attention_heads];
  const name = `model.decoder.layers.${layer}`;
  const part = { ...common, heads, inner: c.decoder_ffn_dim };
  const { around, feedForward } = placedParts(g, name, part);
  const project = (value: Value, of: string) => linear(g, value, `${name}.${of}`, { from: width, to: width });
  const sum = (a: Value, b: Value) => g.node('Add', [a, b]);
  const seen = around(x, 'self_attn_layer_norm', (read) => {
    const projected = {
      query: sum(project(read, 'sa_qcontent_proj'), project(learned, 'sa_qpos_proj')),
      key: sum(project(read, 'sa_kcontent_proj'), project(learned, 'sa_kpos_proj')),
      value: project(read, 'sa_v_proj'),
    };
    return project(attention(g, projected, { heads, width }), 'self_attn.out_proj');
  });
  const looked = around(seen, 'encoder_attn_layer_norm', (read) => {
    const asked = project(read, 'ca_qcontent_proj');
    const found = project(source.x, 'ca_kcontent_proj');
    const positions = project(source.positions, 'ca_kpos_proj');
    const isFirst = layer === 0;
    const query = isFirst ? sum(asked, project(learned, 'ca_qpos_proj')) : asked;
    const key = isFirst ? sum(found, positions) : found;
    const scale = { from: width, inner: width, to: width, layers: 2 };
    const where = isFirst ? place : g.node('Mul', [place, mlp(g, x, 'model.decoder.query_scale', scale)]);
    const projected = {
      query: beside(g, [query, project(where, 'ca_qpos_sine_proj')], c),
      key: beside(g, [key, positions], c),
      value: project(source.x, 'ca_v_proj'),
    };
    const options = { heads, width: 2 * width, padding: common.padding };
    return project(attention(g, projected, options), 'encoder_attn.out_proj');
  });
  return feedForward(looked);
}

function writeDetector(g: GraphWriter, c: Config): void {
  const [width, queries, labels] = [c.d_model, c.num_queries, labelCount(c)];
  const encoded = encodedImage(g, c, { normsBefore: false });
  const table = g.weight('model.query_position_embeddings.weight', [queries, width]);
  const learned = g.node('Unsqueeze', [table, g.ints([0])]);
  const head = { from: width, inner: width, to: 2, layers: 2 };
  const middles = g.node('Sigmoid', [mlp(g, learned, 'model.decoder.ref_point_head', head)]);
  const rows = g.node('Shape', [encoded.source.x], { start: 0, end: 1 });
  const norm = (value: Value) =>
    layerNorm(g, value, 'model.decoder.layernorm', { width, epsilon: encoded.common.epsilon });
  const place = waves(g, middles, width);
  let x = g.node('Expand', [g.scalar(0), g.node('Concat', [rows, g.ints([queries, width])], { axis: 0 })]);
  for (let layer = 0; layer < c.decoder_layers; layer++) {
    const found = decoderLayer(g, { x, learned, waves: place }, { c, layer, encoded });
    x = c.auxiliary_loss ? norm(found) : found;
  }
  const states = norm(x);
  const moved = mlp(g, states, 'bbox_predictor', { from: width, inner: width, to: 4, layers: 3 });
  const around = g.node('Pad', [odds(g, middles), g.ints([0, 0, 0, 0, 0, 2])]);
  const logits = linear(g, states, 'class_labels_classifier', { from: width, to: labels });
  g.output('logits', logits, 'float32', ['rows', queries, labels]);
  g.output('pred_boxes', g.node('Sigmoid', [g.node('Add', [moved, around])]), 'float32', [
    'rows',
    queries,
    4,
  ]);
}

const heads: Family<Config>['heads'] = { 'object-detection': { model: writeDetector } };

/** modeling_conditional_detr.py */
export const conditionalDetr = defineFamily({
  ...{
    modelTypes: ['conditional_detr'],
    readers: { processor: 'ConditionalDetr' },
    config,
    prefixes: ['model.'],
    heads,
  },
});
