import { named } from '../../inert-fields.js';
import { type Family, defineFamily } from '../../family.js';
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
import { binDistances, movedBoxes } from './distributions.js';
import { dFineJoining } from './fusion.js';
import { chooseQueries } from '../rt-detr/family.js';
import { type DFineConfig, dFineConfig } from '../rt-detr/config.js';
import { backboneImages, hybridEncoder } from '../rt-detr/hybrid-encoder.js';

/** How far a position's vector may go. */
const MOST = 10;

function levelsRead(g: GraphWriter, c: DFineConfig): Levels {
  const pixels = imageInput(g, c.backbone_config.num_channels);
  const images = hybridEncoder(g, backboneImages(g, pixels, c), c, dFineJoining(c));
  const from = c.decoder_in_channels.at(-1)!;
  if (from === c.d_model) return levelsOf(g, images);
  const read = images.map((image, i) => {
    const at = `model.decoder_input_proj.${i}`;
    const size = { from, to: c.d_model, kernel: 1, epsilon: c.batch_norm_eps };
    return normedConvolution(g, image, { convolution: `${at}.0`, norm: `${at}.1` }, size);
  });
  return levelsOf(g, read);
}

/** What queries know and what they have just seen, as much of each as gates let through. */
function gated(g: GraphWriter, [known, seen]: readonly [Value, Value], name: string, width: number): Value {
  const both = g.node('Concat', [known, seen], { axis: 2 });
  const open = g.node('Sigmoid', [linear(g, both, `${name}.gate`, { from: 2 * width, to: 2 * width })]);
  const gates = g.nodes('Split', [open, g.ints([width, width])], { outputs: 2, attributes: { axis: 2 } });
  const sum = g.node('Add', [g.node('Mul', [gates[0]!, known]), g.node('Mul', [gates[1]!, seen])]);
  return layerNorm(g, sum, `${name}.norm`, { width, epsilon: 1e-5 });
}

interface LayerOf {
  c: DFineConfig;
  layer: number;
  levels: Levels;
  boxes: Value;
}

/** Queries look at each other and around their boxes: float32 [rows, queries, width]. */
function decoderLayer(g: GraphWriter, x: Value, { c, layer, levels, boxes }: LayerOf): Value {
  const { d_model: width, decoder_attention_heads: heads, decoder_n_points: given } = c;
  const name = `model.decoder.layers.${layer}`;
  const points = typeof given === 'number' ? levels.grids.map(() => given) : given;
  const positionsSize = { from: 4, inner: 2 * width, to: width, layers: 2 };
  const found = mlp(g, boxes, 'model.decoder.query_pos_head', positionsSize);
  const positions = g.node('Clip', [found, g.scalar(-MOST), g.scalar(MOST)]);
  const { attend, feedForward } = placedParts(g, name, {
    ...{ width, heads, inner: c.decoder_ffn_dim, act: c.decoder_activation_function },
    ...{ epsilon: c.layer_norm_eps, normsBefore: false },
  });
  const known = attend({ x, positions }, 'self_attn');
  const seen = deformableAttention(g, g.node('Add', [known, positions]), levels, {
    ...{ name: `${name}.encoder_attn`, width, heads, points, projects: false },
    around: aroundBoxes(g, g.node('Unsqueeze', [boxes, g.ints([2])]), {
      ...{ points, reach: c.decoder_offset_scale, parts: `${name}.encoder_attn.num_points_scale` },
    }),
  });
  return feedForward(gated(g, [known, seen], `${name}.gateway`, width));
}

/** How sure a layer is of its bins tells how good its boxes are: float32 [rows, queries, 1]. */
function boxQuality(g: GraphWriter, bins: Value, layer: number, c: DFineConfig): Value {
  const shares = g.node('Softmax', [g.node('Reshape', [bins, g.ints([0, 0, 4, c.max_num_bins + 1])])], {
    axis: -1,
  });
  const count = c.top_prob_values;
  const [best] = g.nodes('TopK', [shares, g.ints([count])], { outputs: 2, attributes: { axis: 3 } });
  const mean = g.node('ReduceMean', [best!, g.ints([3])]);
  const told = g.node('Reshape', [g.node('Concat', [best!, mean], { axis: 3 }), g.ints([0, 0, -1])]);
  return mlp(g, told, `model.decoder.lqe_layers.${layer}.reg_conf`, {
    ...{ from: 4 * (count + 1), inner: c.lqe_hidden_dim, to: 1, layers: c.lqe_layers },
  });
}

function writeDetector(g: GraphWriter, c: DFineConfig): void {
  const [width, queries, labels] = [c.d_model, c.num_queries, labelCount(c)];
  const levels = levelsRead(g, c);
  const head = { from: width, inner: width, layers: 3 };
  const distances = binDistances(g, c.max_num_bins);
  const sum = (a: Value, b: Value) => g.node('Add', [a, b]);
  let { states: x, boxes } = chooseQueries(g, levels, c);
  let [first, bins] = [boxes, ''];
  for (let layer = 0; layer < c.decoder_layers; layer++) {
    const before = x;
    x = decoderLayer(g, x, { c, layer, levels, boxes });
    if (layer === 0) {
      const moved = mlp(g, x, 'model.decoder.pre_bbox_head', { ...head, to: 4 });
      first = share(g, sum(moved, odds(g, boxes)));
    }
    const read = layer === 0 ? x : sum(x, before);
    const found = mlp(g, read, `bbox_embed.${layer}`, { ...head, to: 4 * (c.max_num_bins + 1) });
    bins = layer === 0 ? found : sum(found, bins);
    boxes = movedBoxes(g, first, bins, distances);
  }
  const last = c.decoder_layers - 1;
  const scores = linear(g, x, `class_embed.${last}`, { from: width, to: labels });
  g.output('logits', sum(scores, boxQuality(g, bins, last, c)), 'float32', ['rows', queries, labels]);
  g.output('pred_boxes', boxes, 'float32', ['rows', queries, 4]);
}

const heads: Family<DFineConfig>['heads'] = { 'object-detection': { model: writeDetector } };

/** modeling_d_fine.py. Heads of the layers are parts of the decoder, too, and files have them under either name. */
export const dFine = defineFamily({
  ...{
    modelTypes: ['d_fine'],
    inert: [{ fields: named('reg_scale', 'up'), reason: 'the checkpoint holds them' }],
    readers: { processor: 'RTDetr' },
    config: dFineConfig,
    prefixes: ['model.decoder.', 'model.'],
    heads,
  },
});
