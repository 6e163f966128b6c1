import { type Family, defineFamily } from '../../family.js';
import { anchorBoxes, bestCells } from '../../layers/anchors.js';
import { normedConvolution } from '../../layers/convolution.js';
import {
  aroundBoxes,
  deformableAttention,
  type Levels,
  levelsOf,
} from '../../layers/deformable-attention.js';
import { linear } from '../../layers/linear.js';
import { layerNorm } from '../../layers/norm.js';
import { odds, mlp, share } from '../../layers/mlp.js';
import { imageInput } from '../../layers/patch-embed.js';
import { placedParts } from '../../layers/detr-layer.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { labelCount } from '../../config-fields.js';
import { cellShares } from '../deformable-levels.js';
import { type EncoderConfig, type RtDetrConfig, rtDetrConfig, rtDetrV2Config } from './config.js';
import { backboneImages, hybridEncoder, rtDetrJoining } from './hybrid-encoder.js';

export interface Chosen {
  /** float32 [rows, queries, width] */
  states: Value;
  /** Between 0 and 1: float32 [rows, queries, 4]. */
  boxes: Value;
}

/** The cells that most likely show something, and boxes around them. */
export function chooseQueries(g: GraphWriter, levels: Levels, c: EncoderConfig): Chosen {
  const width = c.d_model;
  const sizes = levels.grids.map((grid) => cellShares(g, grid));
  const { boxes: anchors, seen } = anchorBoxes(g, sizes);
  const memory = g.node('Mul', [levels.tokens, seen]);
  const dense = linear(g, memory, 'model.enc_output.0', { from: width, to: width });
  const states = layerNorm(g, dense, 'model.enc_output.1', { width, epsilon: c.layer_norm_eps });
  const scores = linear(g, states, 'model.enc_score_head', { from: width, to: labelCount(c) });
  const found = mlp(g, states, 'model.enc_bbox_head', { from: width, inner: width, to: 4, layers: 3 });
  const best = g.node('ReduceMax', [scores, g.ints([2])], { keepdims: 0 });
  const chosen = bestCells(g, best, c.num_queries);
  const boxes = share(g, chosen.of(g.node('Add', [found, anchors])));
  return { states: chosen.of(states), boxes };
}

/** Queries look at each other and around their boxes, and move these. */
function decode(g: GraphWriter, first: Chosen, levels: Levels, c: RtDetrConfig): Chosen {
  const width = c.d_model;
  const part = {
    ...{ width, heads: c.decoder_attention_heads, inner: c.decoder_ffn_dim },
    ...{ act: c.decoder_activation_function, epsilon: c.layer_norm_eps, normsBefore: false },
  };
  let { states: x, boxes } = first;
  for (let i = 0; i < c.decoder_layers; i++) {
    const name = `model.decoder.layers.${i}`;
    const positionsSize = { from: 4, inner: 2 * width, to: width, layers: 2 };
    const positions = mlp(g, boxes, 'model.decoder.query_pos_head', positionsSize);
    const points = levels.grids.map(() => c.decoder_n_points);
    const around = aroundBoxes(g, g.node('Unsqueeze', [boxes, g.ints([2])]), {
      ...{ points, reach: c.decoder_offset_scale ?? 0.5, parts: `${name}.encoder_attn.n_points_scale` },
    });
    const parts = placedParts(g, name, part);
    const looked = parts.around(
      parts.attend({ x, positions }, 'self_attn'),
      'encoder_attn_layer_norm',
      (read) =>
        deformableAttention(g, g.node('Add', [read, positions]), levels, {
          ...{ name: `${name}.encoder_attn`, width, heads: c.decoder_attention_heads },
          ...{ points, around },
        }),
    );
    x = parts.feedForward(looked);
    const moved = mlp(g, x, `bbox_embed.${i}`, { from: width, inner: width, to: 4, layers: 3 });
    boxes = share(g, g.node('Add', [moved, odds(g, boxes)]));
  }
  return { states: x, boxes };
}

function writeDetector(g: GraphWriter, c: RtDetrConfig): void {
  const pixels = imageInput(g, c.backbone_config.num_channels);
  const images = hybridEncoder(g, backboneImages(g, pixels, c), c, rtDetrJoining(c));
  const read = images.map((image, i) => {
    const at = `model.decoder_input_proj.${i}`;
    const size = { from: c.encoder_hidden_dim, to: c.d_model, kernel: 1, epsilon: c.batch_norm_eps };
    return normedConvolution(g, image, { convolution: `${at}.0`, norm: `${at}.1` }, size);
  });
  const levels = levelsOf(g, read);
  const { states, boxes } = decode(g, chooseQueries(g, levels, c), levels, c);
  const labels = labelCount(c);
  const logits = linear(g, states, `class_embed.${c.decoder_layers - 1}`, { from: c.d_model, to: labels });
  g.output('logits', logits, 'float32', ['rows', c.num_queries, labels]);
  g.output('pred_boxes', boxes, 'float32', ['rows', c.num_queries, 4]);
}

const heads: Family<RtDetrConfig>['heads'] = { 'object-detection': { model: writeDetector } };
/** Heads of the layers are parts of the decoder, too, and files have them under either name. */
const prefixes = ['model.decoder.', 'model.'];

/** modeling_rt_detr.py */
export const rtDetr = defineFamily({
  modelTypes: ['rt_detr'],
  readers: { processor: 'RTDetr' },
  config: rtDetrConfig,
  prefixes,
  heads,
});

/** modeling_rt_detr_v2.py */
export const rtDetrV2 = defineFamily({
  ...{
    modelTypes: ['rt_detr_v2'],
    readers: { processor: 'RTDetr' },
    config: rtDetrV2Config,
    prefixes,
    heads,
  },
});
