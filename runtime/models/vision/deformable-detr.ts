import * as z from 'zod';
import { type Family, defineFamily } from '../family.js';
import { anchorBoxes, bestCells } from '../layers/anchors.js';
import { aroundBoxes, aroundPoints, deformableAttention } from '../layers/deformable-attention.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { odds, mlp, share } from '../layers/mlp.js';
import { turnWaves } from '../layers/position-grid.js';
import { imageInput } from '../layers/patch-embed.js';
import { placedParts } from '../layers/detr-layer.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { labelCount, labels, layers, size } from '../config-fields.js';
import { channels } from '../bases/vision/vit-config.js';
import {
  cellLayer,
  middlesInLevels,
  ofLevels,
  type PlacedLevels,
  placedLevels,
  projectedImages,
  shownMiddles,
} from './deformable-levels.js';
import { backboneConfig, detrBackbone } from './backbone/detr-backbone.js';

const pointCount = z.int().min(1).max(64).default(4);

/** Of configurations of detectors whose attention is deformable. */
export const deformableFields = {
  ...backboneConfig,
  d_model: size.multipleOf(4).default(256),
  ...{ encoder_layers: layers.default(6), decoder_layers: layers.min(1).default(6) },
  ...{ encoder_attention_heads: size.default(8), decoder_attention_heads: size.default(8) },
  activation_function: z.string().default('relu'),
  position_embedding_type: z.literal('sine', 'learned places are not known').default('sine'),
  num_feature_levels: z.int().min(1).max(16).default(4),
  ...{ encoder_n_points: pointCount, decoder_n_points: pointCount },
};

const config = z
  .object({
    ...{ ...labels, ...deformableFields },
    num_channels: channels,
    num_queries: size.default(300),
    ...{ encoder_ffn_dim: size.default(1024), decoder_ffn_dim: size.default(1024) },
    two_stage: z.boolean().default(false),
    two_stage_num_proposals: size.default(300),
    with_box_refine: z.boolean().default(false),
  })
  .refine((c) => !c.two_stage || c.with_box_refine, {
    ...{ message: 'two stages need boxes that are refined', path: ['with_box_refine'] },
  });
type Config = z.output<typeof config>;

const EPSILON = 1e-5;

function encodedLevels(g: GraphWriter, c: Config): PlacedLevels {
  const pixels = imageInput(g, c.num_channels);
  const mask = g.input('pixel_mask', 'int64', ['rows', 'height', 'width']);
  const stages = c.num_feature_levels > 1 ? [2, 3, 4] : [4];
  const found = detrBackbone(g, pixels, c, { channels: c.num_channels, stages });
  const [width, count] = [c.d_model, c.num_feature_levels];
  const images = projectedImages(g, found, { name: 'model.input_proj', width, levels: count });
  const levels = placedLevels(g, images, { mask, name: 'model.level_embed', width, middles: true });
  const middles = middlesInLevels(g, levels);
  let { tokens } = levels;
  for (let i = 0; i < c.encoder_layers; i++)
    tokens = cellLayer(
      g,
      tokens,
      { ...levels, middles },
      {
        ...{ name: `model.encoder.layers.${i}`, width, heads: c.encoder_attention_heads },
        ...{ points: c.encoder_n_points, inner: c.encoder_ffn_dim, act: c.activation_function },
        epsilon: EPSILON,
      },
    );
  return { ...levels, tokens };
}

/** What queries begin with: float32 [rows, queries, width] each. */
interface Queries {
  x: Value;
  positions: Value;
  /** What they look around, between 0 and 1: [rows, queries, 2], or boxes [rows, queries, 4]. */
  at: Value;
  isBox: boolean;
}

function halves(g: GraphWriter, x: Value, width: number): [Value, Value] {
  const options = { outputs: 2, attributes: { axis: -1 } };
  return g.nodes('Split', [x, g.ints([width, width])], options) as [Value, Value];
}

function learnedQueries(g: GraphWriter, { tokens }: PlacedLevels, c: Config): Queries {
  const width = c.d_model;
  const table = g.weight('model.query_position_embeddings.weight', [c.num_queries, 2 * width]);
  const rows = g.node('Shape', [tokens], { start: 0, end: 1 });
  const shape = g.node('Concat', [rows, g.ints([1, 1])], { axis: 0 });
  const [positions, x] = halves(g, g.node('Expand', [table, shape]), width);
  const at = share(g, linear(g, positions, 'model.reference_points', { from: width, to: 2 }));
  return { x, positions, at, isBox: false };
}

/** Cells that most likely show something, whose boxes' waves become queries. */
function chosenQueries(g: GraphWriter, levels: PlacedLevels, c: Config): Queries {
  const width = c.d_model;
  const { boxes: anchors, seen } = anchorBoxes(g, shownMiddles(g, levels), levels.seen);
  const read = g.node('Mul', [levels.tokens, seen]);
  const dense = linear(g, read, 'model.enc_output', { from: width, to: width });
  const states = layerNorm(g, dense, 'model.enc_output_norm', { width, epsilon: EPSILON });
  const scores = linear(g, states, `class_embed.${c.decoder_layers}`, { from: width, to: labelCount(c) });
  const first = g.node('Gather', [scores, g.ints([0], [])], { axis: 2 });
  const boxes = g.node('Add', [boxesOf(g, states, c.decoder_layers, c), anchors]);
  const at = share(g, bestCells(g, first, c.two_stage_num_proposals).of(boxes));
  const waves = turnWaves(g, at, width / 2);
  const turned = linear(g, waves, 'model.pos_trans', { from: 2 * width, to: 2 * width });
  const normed = layerNorm(g, turned, 'model.pos_trans_norm', { width: 2 * width, epsilon: EPSILON });
  const [positions, x] = halves(g, normed, width);
  return { x, positions, at, isBox: true };
}

function boxesOf(g: GraphWriter, x: Value, layer: number, { d_model: width }: Config): Value {
  return mlp(g, x, `bbox_embed.${layer}`, { from: width, inner: width, to: 4, layers: 3 });
}

/** Queries look at each other and around where they are, which boxes that are refined move. */
function writeDetector(g: GraphWriter, c: Config): void {
  const [width, heads] = [c.d_model, c.decoder_attention_heads];
  const levels = encodedLevels(g, c);
  const queries = c.two_stage ? chosenQueries(g, levels, c) : learnedQueries(g, levels, c);
  const part = { width, heads, inner: c.decoder_ffn_dim, act: c.activation_function, epsilon: EPSILON };
  const points = levels.grids.map(() => c.decoder_n_points);
  let { x, at, isBox } = queries;
  const moved = (layer: number) => {
    const before = isBox ? odds(g, at) : g.node('Pad', [odds(g, at), g.ints([0, 0, 0, 0, 0, 2])]);
    return share(g, g.node('Add', [boxesOf(g, x, layer, c), before]));
  };
  for (let i = 0; i < c.decoder_layers; i++) {
    const name = `model.decoder.layers.${i}`;
    const { around, attend, feedForward } = placedParts(g, name, { ...part, normsBefore: false });
    const seen = attend({ x, positions: queries.positions }, 'self_attn');
    const middle = ofLevels(g, at, levels, isBox);
    const looked = around(seen, 'encoder_attn_layer_norm', (read) =>
      deformableAttention(g, g.node('Add', [read, queries.positions]), levels, {
        ...{ name: `${name}.encoder_attn`, width, heads, points },
        around: isBox ? aroundBoxes(g, middle, { points }) : aroundPoints(g, middle, levels),
      }),
    );
    x = feedForward(looked);
    if (c.with_box_refine) [at, isBox] = [moved(i), true];
  }
  // Layers share one head where boxes are not refined.
  const last = c.with_box_refine ? c.decoder_layers - 1 : 0;
  const logits = linear(g, x, `class_embed.${last}`, { from: width, to: labelCount(c) });
  g.output('logits', logits, 'float32', ['rows', 'queries', labelCount(c)]);
  g.output('pred_boxes', c.with_box_refine ? at : moved(0), 'float32', ['rows', 'queries', 4]);
}

const heads: Family<Config>['heads'] = { 'object-detection': { model: writeDetector } };

/** modeling_deformable_detr.py. Heads of the layers are parts of the decoder, too, and files have them under either name. */
export const deformableDetr = defineFamily({
  ...{
    modelTypes: ['deformable_detr'],
    readers: { processor: 'DeformableDetr' },
    config,
    prefixes: ['model.decoder.', 'model.'],
    heads,
  },
});
