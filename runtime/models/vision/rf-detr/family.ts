import { defineFamily, type Family } from '../../family.js';
import { labelCount } from '../../config-fields.js';
import { activation } from '../../layers/activation.js';
import { anchorShares, bestCells } from '../../layers/anchors.js';
import { attention } from '../../layers/attention.js';
import { convolution2d } from '../../layers/convolution.js';
import {
  aroundBoxes,
  deformableAttention,
  type Levels,
  levelsOf,
} from '../../layers/deformable-attention.js';
import { inProjections } from '../../layers/in-projections.js';
import { linear } from '../../layers/linear.js';
import { mlp } from '../../layers/mlp.js';
import { channelNorm, layerNorm } from '../../layers/norm.js';
import { imageInput } from '../../layers/patch-embed.js';
import { turnWaves } from '../../layers/position-grid.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { cellShares } from '../deformable-levels.js';
import { rfDetrFeatures } from './backbone.js';
import { type RfDetrConfig, rfDetrConfig } from './config.js';
import { rfDetrMasks } from './masks.js';

/** Of norms without a setting, and of the one behind the projector. */
const [EPSILON, PROJECTOR_EPSILON] = [1e-5, 1e-6];
/** Least float32: of cells that say nothing. */
const LEAST = -3.4028234663852886e38;
const PROJECTOR = 'backbone.0.projector.stages.0';

interface Read {
  name: string;
  from: number;
  to: number;
  kernel: number;
}

/** The layers' images become one of the model's width. RfDetrScaleProjector */
function projected(g: GraphWriter, pixels: Value, c: RfDetrConfig): Value {
  const { features, width: from } = rfDetrFeatures(g, pixels, c.backbone_config);
  const inner = Math.trunc(c.d_model * c.hidden_expansion);
  const read = (x: Value, { name, ...size }: Read) => {
    const found = convolution2d(g, x, `${PROJECTOR}.0.${name}.conv`, { ...size, bias: false });
    const norm = { width: size.to, epsilon: c.layer_norm_eps };
    return activation(g, channelNorm(g, found, `${PROJECTOR}.0.${name}.bn`, norm), c.activation_function);
  };
  const both = read(features, { name: 'cv1', from, to: 2 * inner, kernel: 1 });
  const halves = g.nodes('Split', [both, g.ints([inner, inner])], { outputs: 2, attributes: { axis: 1 } });
  const parts = [...halves];
  for (let i = 0; i < c.c2f_num_blocks; i++) {
    const size = { from: inner, to: inner, kernel: 3 };
    const first = read(parts.at(-1)!, { ...size, name: `m.${i}.cv1` });
    parts.push(read(first, { ...size, name: `m.${i}.cv2` }));
  }
  const all = g.node('Concat', parts, { axis: 1 });
  const whole = { from: parts.length * inner, to: c.d_model, kernel: 1 };
  const joined = read(all, { ...whole, name: 'cv2' });
  return channelNorm(g, joined, `${PROJECTOR}.1`, { width: c.d_model, epsilon: PROJECTOR_EPSILON });
}

/** Boxes that move from where they are by shares of their size: float32 [rows, queries, 4]. refine_bboxes */
function movedBoxes(g: GraphWriter, boxes: Value, moves: Value): Value {
  const halves = (x: Value) =>
    g.nodes('Split', [x, g.ints([2, 2])], { outputs: 2, attributes: { axis: -1 } }) as [Value, Value];
  const [[middle, size], [by, growth]] = [halves(boxes), halves(moves)];
  const at = g.node('Add', [g.node('Mul', [by, size]), middle]);
  return g.node('Concat', [at, g.node('Mul', [g.node('Exp', [growth]), size])], { axis: -1 });
}

const boxHead = (g: GraphWriter, x: Value, name: string, { d_model: width }: RfDetrConfig): Value =>
  mlp(g, x, name, { from: width, inner: width, to: 4, layers: 3 });

/** The first queries' rows of a table for the groups of training. */
function firstGroup(g: GraphWriter, name: string, c: RfDetrConfig, width: number): Value {
  const table = g.weight(`${name}.weight`, [c.num_queries * c.group_detr, width]);
  return g.node('Slice', [table, g.ints([0]), g.ints([c.num_queries]), g.ints([0])]);
}

/** Boxes of the cells that most likely show something, moved by what queries have learned. */
function firstBoxes(g: GraphWriter, levels: Levels, c: RfDetrConfig): Value {
  const width = c.d_model;
  const { boxes, seen, isSeen } = anchorShares(
    g,
    levels.grids.map((grid) => cellShares(g, grid)),
  );
  const read = g.node('Mul', [levels.tokens, seen]);
  const dense = linear(g, read, 'transformer.enc_output.0', { from: width, to: width });
  const states = layerNorm(g, dense, 'transformer.enc_output_norm.0', { width, epsilon: EPSILON });
  const scores = linear(g, states, 'transformer.enc_out_class_embed.0', { from: width, to: labelCount(c) });
  const best = g.node('ReduceMax', [scores, g.ints([2])]);
  const shown = g.node('Squeeze', [g.node('Where', [isSeen, best, g.scalar(LEAST)]), g.ints([2])]);
  const moved = movedBoxes(g, boxes, boxHead(g, states, 'transformer.enc_out_bbox_embed.0', c));
  const learned = firstGroup(g, 'refpoint_embed', c, 4);
  const chosen = bestCells(g, shown, c.num_queries).of(moved);
  return movedBoxes(g, chosen, g.node('Unsqueeze', [learned, g.ints([0])]));
}

interface Layer {
  c: RfDetrConfig;
  name: string;
  levels: Levels;
  boxes: Value;
  /** Of the boxes: float32 [rows, queries, width]. */
  positions: Value;
}

/** Queries look at each other and around their boxes: float32 [rows, queries, width]. */
function writeLayer(g: GraphWriter, x: Value, { c, name, levels, boxes, positions }: Layer): Value {
  const [width, inner] = [c.d_model, c.decoder_ffn_dim];
  const norm = (value: Value, i: number) =>
    layerNorm(g, value, `${name}.norm${i}`, { width, epsilon: EPSILON });
  const placed = (value: Value) => g.node('Add', [value, positions]);
  const project = inProjections(g, (part) => `${name}.self_attn.${part}`, { width, bias: c.attention_bias });
  const asks = placed(x);
  const attended = attention(
    g,
    { query: project(0, asks), key: project(1, asks), value: project(2, x) },
    { heads: c.decoder_self_attention_heads, width },
  );
  const size = { from: width, to: width };
  const output = linear(g, attended, `${name}.self_attn.out_proj`, { ...size, bias: c.attention_bias });
  const known = norm(g.node('Add', [x, output]), 1);
  const points = [c.decoder_n_points];
  const looked = deformableAttention(g, placed(known), levels, {
    ...{ name: `${name}.cross_attn`, width, heads: c.decoder_cross_attention_heads, points },
    around: aroundBoxes(g, g.node('Unsqueeze', [boxes, g.ints([2])]), { points }),
  });
  const seen = norm(g.node('Add', [known, looked]), 2);
  const wide = linear(g, seen, `${name}.linear1`, { from: width, to: inner });
  const fed = linear(g, activation(g, wide, c.decoder_activation_function), `${name}.linear2`, {
    ...{ from: inner, to: width },
  });
  return norm(g.node('Add', [seen, fed]), 3);
}

interface Detected {
  /** float32 [rows, channels, lines, columns] */
  pixels: Value;
  /** Of the projector: float32 [rows, width, lines, columns]. */
  features: Value;
  boxes: Value;
  /** Of queries, behind the last norm: float32 [rows, queries, width]. */
  states: Value;
}

/** Declares the image, and `logits`. */
function detect(g: GraphWriter, c: RfDetrConfig): Detected {
  const [width, queries, labels] = [c.d_model, c.num_queries, labelCount(c)];
  const pixels = imageInput(g, c.backbone_config.num_channels);
  const features = projected(g, pixels, c);
  const levels = levelsOf(g, [features]);
  const boxes = firstBoxes(g, levels, c);
  // Lines stand before columns.
  const turned = g.node('Gather', [boxes, g.ints([1, 0, 2, 3])], { axis: 2 });
  const waves = turnWaves(g, turned, width / 2);
  const positions = mlp(g, waves, 'transformer.decoder.ref_point_head', {
    ...{ from: 2 * width, inner: width, to: width, layers: 2 },
  });
  const rows = g.node('Shape', [boxes], { start: 0, end: 1 });
  const shape = g.node('Concat', [rows, g.ints([1, 1])], { axis: 0 });
  let x = g.node('Expand', [firstGroup(g, 'query_feat', c, width), shape]);
  for (let i = 0; i < c.decoder_layers; i++)
    x = writeLayer(g, x, { c, name: `transformer.decoder.layers.${i}`, levels, boxes, positions });
  const states = layerNorm(g, x, 'transformer.decoder.norm', { width, epsilon: EPSILON });
  const logits = linear(g, states, 'class_embed', { from: width, to: labels });
  g.output('logits', logits, 'float32', ['rows', queries, labels]);
  return { pixels, features, boxes, states };
}

function writeDetector(g: GraphWriter, c: RfDetrConfig): void {
  const { boxes, states } = detect(g, c);
  const found = movedBoxes(g, boxes, boxHead(g, states, 'bbox_embed', c));
  g.output('pred_boxes', found, 'float32', ['rows', c.num_queries, 4]);
}

function writeSegmenter(g: GraphWriter, c: RfDetrConfig): void {
  const masks = rfDetrMasks(g, detect(g, c), c);
  g.output('pred_masks', masks, 'float32', ['rows', c.num_queries, 'mask lines', 'mask columns']);
}

const heads: Family<RfDetrConfig>['heads'] = {
  'object-detection': { model: writeDetector },
  'image-segmentation': { model: writeSegmenter },
};

/** A windowed DINOv2, one image of features, queries of the likeliest cells, which may have masks. modeling_rf_detr.py */
export const rfDetr = defineFamily({
  modelTypes: ['rf_detr'],
  readers: { processor: 'RfDetr' },
  config: rfDetrConfig,
  prefixes: [],
  heads,
});
