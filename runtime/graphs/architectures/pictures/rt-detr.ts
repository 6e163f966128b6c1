import { type Architecture, defineArchitecture } from '../../architecture.js';
import { normedConvolution } from '../../blocks/convolution.js';
import { deformableAttention, type Level } from '../../blocks/deformable-attention.js';
import { linear } from '../../blocks/linear.js';
import { layerNorm } from '../../blocks/norm.js';
import { odds, perceptron } from '../../blocks/perceptron.js';
import { gridOf, pictureInput, tokensOf } from '../../blocks/pictures.js';
import { placedParts } from '../../blocks/placed-layer.js';
import type { GraphWriter, Value } from '../../graph-writer.js';
import { ELEMENTS } from '../../tensors.js';
import { labelCount } from '../config.js';
import { type RtDetrConfig, rtDetrConfig, rtDetrV2Config } from './rt-detr-config.js';
import { backbonePictures, hybridEncoder } from './rt-detr-encoder.js';

/** Edge of a box that a cell of the finest picture may say something of, and how near an edge of the picture its middle may be. */
const [EDGE, MARGIN] = [0.05, 0.01];
/** Stands where a cell says nothing. */
const MOST = 3.4028234663852886e38;

interface Anchors {
  /** Before the sigmoid: float32 [cells, 4]. */
  boxes: Value;
  /** float32 [cells, 1], 0 where a cell says nothing. */
  seen: Value;
}

/** A box around each cell of a picture. */
function anchorsOf(g: GraphWriter, grid: Value, level: number): Anchors {
  const float = (x: Value) => g.node('Cast', [x], { to: ELEMENTS.float32 });
  const whole = g.node('Concat', [grid, g.ints([1])], { axis: 0 });
  const middles = [1, 0].map((axis) => {
    const count = g.node('Gather', [grid, g.ints([axis], [])]);
    const numbers = float(g.node('Range', [g.ints([0], []), count, g.ints([1], [])]));
    const share = g.node('Div', [g.node('Add', [numbers, g.scalar(0.5)]), float(count)]);
    const shaped = g.node('Reshape', [share, g.ints(axis === 0 ? [-1, 1, 1] : [1, -1, 1])]);
    return g.node('Expand', [shaped, whole]);
  });
  const edge = g.node('Expand', [g.scalar(EDGE * 2 ** level), whole]);
  const all = g.node('Reshape', [g.node('Concat', [...middles, edge, edge], { axis: 2 }), g.ints([-1, 4])]);
  const within = g.node('And', [
    g.node('Greater', [all, g.scalar(MARGIN)]),
    g.node('Less', [all, g.scalar(1 - MARGIN)]),
  ]);
  const seen = g.node('ReduceMin', [float(within), g.ints([1])], { keepdims: 1 });
  const odds = g.node('Log', [g.node('Div', [all, g.node('Sub', [g.scalar(1), all])])]);
  const isSeen = g.node('Greater', [seen, g.scalar(0)]);
  return { boxes: g.node('Where', [isSeen, odds, g.scalar(MOST)]), seen };
}

interface Chosen {
  /** float32 [rows, queries, width] */
  states: Value;
  /** Between 0 and 1: float32 [rows, queries, 4]. */
  boxes: Value;
}

/** The cells that most likely show something, and boxes around them. */
function chooseQueries(g: GraphWriter, levels: readonly Level[], c: RtDetrConfig): Chosen {
  const width = c.d_model;
  const together = (parts: readonly Value[], axis: number) => g.node('Concat', parts, { axis });
  const anchors = levels.map(({ grid }, level) => anchorsOf(g, grid, level));
  const seen = together(
    anchors.map((one) => one.seen),
    0,
  );
  const memory = g.node('Mul', [
    together(
      levels.map(({ tokens }) => tokens),
      1,
    ),
    seen,
  ]);
  const dense = linear(g, memory, 'model.enc_output.0', { from: width, to: width });
  const states = layerNorm(g, dense, 'model.enc_output.1', { width, epsilon: c.layer_norm_eps });
  const scores = linear(g, states, 'model.enc_score_head', { from: width, to: labelCount(c) });
  const found = perceptron(g, states, 'model.enc_bbox_head', { from: width, inner: width, to: 4, layers: 3 });
  const boxes = g.node('Add', [
    found,
    together(
      anchors.map((one) => one.boxes),
      0,
    ),
  ]);
  const best = g.node('ReduceMax', [scores, g.ints([2])], { keepdims: 0 });
  const [, places] = g.nodes('TopK', [best, g.ints([c.num_queries])], {
    outputs: 2,
    attributes: { axis: 1 },
  });
  const at = g.node('Unsqueeze', [places!, g.ints([2])]);
  const chosen = (x: Value) => g.node('GatherND', [x, at], { batch_dims: 1 });
  return { states: chosen(states), boxes: g.node('Sigmoid', [chosen(boxes)]) };
}

/** Queries look at each other and around their boxes, and move these. */
function decode(g: GraphWriter, first: Chosen, levels: readonly Level[], c: RtDetrConfig): Chosen {
  const width = c.d_model;
  const part = {
    ...{ width, heads: c.decoder_attention_heads, inner: c.decoder_ffn_dim },
    ...{ act: c.decoder_activation_function, epsilon: c.layer_norm_eps, normsBefore: false },
  };
  let { states: x, boxes } = first;
  for (let i = 0; i < c.decoder_layers; i++) {
    const name = `model.decoder.layers.${i}`;
    const placesSize = { from: 4, inner: 2 * width, to: width, layers: 2 };
    const places = perceptron(g, boxes, 'model.decoder.query_pos_head', placesSize);
    const { around, attend, feedForward } = placedParts(g, name, part);
    const looked = around(attend({ x, places }, 'self_attn'), 'encoder_attn_layer_norm', (read) =>
      deformableAttention(g, g.node('Add', [read, places]), levels, {
        ...{ name: `${name}.encoder_attn`, width, heads: c.decoder_attention_heads },
        ...{ points: c.decoder_n_points, boxes, reach: c.decoder_offset_scale ?? 0.5 },
      }),
    );
    x = feedForward(looked);
    const moved = perceptron(g, x, `bbox_embed.${i}`, { from: width, inner: width, to: 4, layers: 3 });
    boxes = g.node('Sigmoid', [g.node('Add', [moved, odds(g, boxes)])]);
  }
  return { states: x, boxes };
}

function writeDetector(g: GraphWriter, c: RtDetrConfig): void {
  const pixels = pictureInput(g, c.backbone_config.num_channels);
  const pictures = hybridEncoder(g, backbonePictures(g, pixels, c), c);
  const levels = pictures.map((picture, i): Level => {
    const at = `model.decoder_input_proj.${i}`;
    const size = { from: c.encoder_hidden_dim, to: c.d_model, kernel: 1, epsilon: c.batch_norm_eps };
    const read = normedConvolution(g, picture, { convolution: `${at}.0`, norm: `${at}.1` }, size);
    return { tokens: tokensOf(g, read), grid: gridOf(g, read) };
  });
  const { states, boxes } = decode(g, chooseQueries(g, levels, c), levels, c);
  const labels = labelCount(c);
  const logits = linear(g, states, `class_embed.${c.decoder_layers - 1}`, { from: c.d_model, to: labels });
  g.output('logits', logits, 'float32', ['rows', c.num_queries, labels]);
  g.output('pred_boxes', boxes, 'float32', ['rows', c.num_queries, 4]);
}

const heads: Architecture<RtDetrConfig>['heads'] = { 'object-detection': { model: writeDetector } };
/** Heads of the layers are parts of the decoder, too, and files have them under either name. */
const prefixes = ['model.decoder.', 'model.'];

/** modeling_rt_detr.py */
export const rtDetr = defineArchitecture({ modelTypes: ['rt_detr'], config: rtDetrConfig, prefixes, heads });

/** modeling_rt_detr_v2.py */
export const rtDetrV2 = defineArchitecture({
  ...{ modelTypes: ['rt_detr_v2'], config: rtDetrV2Config, prefixes, heads },
});
