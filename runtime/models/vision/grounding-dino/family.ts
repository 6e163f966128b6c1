import { type Family, defineFamily, UNCHECKED_MEMORY } from '../../family.js';
import { anchorBoxes, bestCells } from '../../layers/anchors.js';
import { aroundBoxes, deformableAttention } from '../../layers/deformable-attention.js';
import { linear, matMulTransposed } from '../../layers/linear.js';
import { layerNorm } from '../../layers/norm.js';
import { logit, mlp, share } from '../../layers/mlp.js';
import { turnWaves } from '../../layers/position-grid.js';
import { imageInput } from '../../layers/patch-embed.js';
import { placedParts } from '../../layers/detr-layer.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { ELEMENTS } from '../../writer/tensors.js';
import { ofLevels, placedLevels, projectedImages, shownMiddles } from '../deformable-levels.js';
import { detrBackbone } from '../backbone/detr-backbone.js';
import { type GroundingConfig, groundingConfig, mmGroundingConfig } from './config.js';
import { type Grounded, grounded } from './encoder.js';
import { namedAttention, type Text, textStates } from './text.js';

/** Least float32: of tokens that are padding. */
const LEAST = -3.4028234663852886e38;

/** Declares the inputs. */
function inputsOf(g: GraphWriter, c: GroundingConfig): Grounded {
  const { d_model: width, num_feature_levels: levels } = c;
  const text = textStates(g, c.text_config, width);
  const channels = c.backbone_config.num_channels;
  const pixels = imageInput(g, channels);
  const mask = g.input('pixel_mask', 'int64', ['rows', 'height', 'width']);
  const found = detrBackbone(g, pixels, c, { channels });
  const images = projectedImages(g, found, { name: 'model.input_proj_vision', width, levels });
  const base = c.positional_embedding_temperature;
  return { text, levels: placedLevels(g, images, { mask, name: 'model.level_embed', width, base }) };
}

/** How well tokens describe states: float32 [rows, states, tokens]; least where those are padding. @param name of the scores */
function tokenScores(
  g: GraphWriter,
  { states, text }: { states: Value; text: Text },
  name: string,
  c: GroundingConfig,
): Value {
  const scale = c.isMm ? 1 / Math.sqrt(c.d_model) : 1;
  const alike = matMulTransposed(g, states, text.x, scale);
  const scores = c.isMm ? g.node('Add', [alike, g.weight(`${name}.bias`, [])]) : alike;
  const isText = g.node('Unsqueeze', [g.node('Cast', [text.padding], { to: ELEMENTS.bool }), g.ints([1])]);
  return g.node('Where', [isText, scores, g.scalar(LEAST)]);
}

function boxesOf(g: GraphWriter, x: Value, layer: number, c: GroundingConfig): Value {
  const name = `bbox_embed.${c.decoder_bbox_embed_share ? 0 : layer}`;
  return mlp(g, x, name, boxSize(c));
}
const boxSize = ({ d_model: width }: GroundingConfig) => ({ from: width, inner: width, to: 4, layers: 3 });

/** Boxes between 0 and 1 that queries begin with: float32 [rows, queries, 4]. */
function firstBoxes(g: GraphWriter, { levels, text }: Grounded, c: GroundingConfig): Value {
  const width = c.d_model;
  const { boxes: anchors, seen } = anchorBoxes(g, shownMiddles(g, levels), levels.seen);
  const dense = linear(g, g.node('Mul', [levels.tokens, seen]), 'model.enc_output', {
    from: width,
    to: width,
  });
  const states = layerNorm(g, dense, 'model.enc_output_norm', { width, epsilon: c.layer_norm_eps });
  const scores = tokenScores(g, { states, text }, 'model.encoder_output_class_embed', c);
  const best = g.node('ReduceMax', [scores, g.ints([2])], { keepdims: 0 });
  const found = mlp(g, states, 'model.encoder_output_bbox_embed', boxSize(c));
  return share(g, bestCells(g, best, c.num_queries).of(g.node('Add', [found, anchors])));
}

/** A table for each row of x: float32 [rows, …]. */
function ofRows(g: GraphWriter, table: Value, x: Value): Value {
  const rows = g.node('Shape', [x], { start: 0, end: 1 });
  return g.node('Expand', [table, g.node('Concat', [rows, g.ints([1, 1])], { axis: 0 })]);
}

/** Queries look at each other, at the text and around their boxes, and move these. */
function writeDetector(g: GraphWriter, c: GroundingConfig): void {
  const { d_model: width, decoder_attention_heads: heads, num_queries: queries } = c;
  const found = grounded(g, inputsOf(g, c), c);
  const { levels, text } = found;
  const part = { width, heads, inner: c.decoder_ffn_dim, act: c.activation_function };
  const points = levels.grids.map(() => c.decoder_n_points);
  const norm = { width, epsilon: c.layer_norm_eps };
  const normed = (value: Value) => layerNorm(g, value, 'model.decoder.layer_norm', norm);
  let boxes = firstBoxes(g, found, c);
  const moved = (by: Value) => share(g, g.node('Add', [by, logit(g, boxes)]));
  let x = ofRows(g, g.weight('model.query_position_embeddings.weight', [queries, width]), levels.tokens);
  for (let i = 0; i < c.decoder_layers; i++) {
    if (i > 0) boxes = moved(boxesOf(g, x, i - 1, c));
    const name = `model.decoder.layers.${i}`;
    const scaled = ofLevels(g, boxes, levels, true);
    const positions = positionsOf(g, scaled, width);
    const { around, feedForward } = placedParts(g, name, { ...part, ...norm, normsBefore: false });
    const placed = (value: Value) => g.node('Add', [value, positions]);
    const own = around(x, 'self_attn_layer_norm', (read) =>
      namedAttention(g, { query: placed(read), key: placed(read), value: read }, `${name}.self_attn`, {
        heads,
        width,
      }),
    );
    const told = around(own, 'encoder_attn_text_layer_norm', (read) =>
      namedAttention(g, { query: placed(read), key: text.x, value: text.x }, `${name}.encoder_attn_text`, {
        ...{ heads, width, padding: text.padding },
      }),
    );
    const looked = around(told, 'encoder_attn_layer_norm', (read) =>
      deformableAttention(g, placed(read), levels, {
        ...{ name: `${name}.encoder_attn`, width, heads, points },
        around: aroundBoxes(g, scaled, { points }),
      }),
    );
    x = feedForward(looked);
  }
  const last = c.decoder_layers - 1;
  const states = normed(x);
  g.output('logits', tokenScores(g, { states, text }, `class_embed.${last}`, c), 'float32', [
    'rows',
    queries,
    'tokens',
  ]);
  g.output('pred_boxes', moved(boxesOf(g, states, last, c)), 'float32', ['rows', queries, 4]);
}

/** Vectors of boxes, as waves of their lines, columns, widths and heights: float32 [rows, queries, width]. */
function positionsOf(g: GraphWriter, boxes: Value, width: number): Value {
  const first = g.node('Gather', [boxes, g.ints([0], [])], { axis: 2 });
  const turned = g.node('Gather', [first, g.ints([1, 0, 2, 3])], { axis: 2 });
  const waves = turnWaves(g, turned, width / 2);
  const size = { from: 2 * width, inner: width, to: width, layers: 2 };
  return mlp(g, waves, 'model.decoder.reference_points_head', size);
}

const heads: Family<GroundingConfig>['heads'] = { 'text-guided-detection': { model: writeDetector } };
/** Heads of the layers are parts of the decoder, too, and files have them under either name. */
const prefixes = ['model.decoder.', 'model.'];

/** modeling_grounding_dino.py */
export const groundingDino = defineFamily({
  ...{
    modelTypes: ['grounding-dino'],
    readers: { processor: 'GroundingDino', detector: 'tokens' },
    config: groundingConfig,
    prefixes,
    heads,
  },
  limits: [UNCHECKED_MEMORY],
});

/** modeling_mm_grounding_dino.py: scores have a bias, and each layer moves boxes by itself. */
export const mmGroundingDino = defineFamily({
  ...{
    modelTypes: ['mm-grounding-dino'],
    readers: { processor: 'GroundingDino', detector: 'tokens' },
    config: mmGroundingConfig,
    prefixes,
    heads,
  },
  limits: [UNCHECKED_MEMORY],
});
