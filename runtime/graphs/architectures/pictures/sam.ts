import { type Architecture, defineArchitecture } from '../../architecture.js';
import { linear } from '../../blocks/linear.js';
import { channelNorm } from '../../blocks/norm.js';
import { pictureOf, tokensFrom, tokensOf } from '../../blocks/pictures.js';
import type { GraphWriter, Value } from '../../graph-writer.js';
import { type SamConfig, samConfig } from './sam-config.js';
import { samPictures } from './sam-pictures.js';
import { ofPrompts, twoWay, waves } from './sam-two-way.js';

/** Of norms over channels. */
const EPSILON = 1e-6;

/** Where a label is something else than a place. */
const [NO_POINT, PADDING] = [-1, -10];

/** Points of each prompt, and a last one that says there are no boxes: float32 [prompts, points + 1, width]. */
function pointTokens(g: GraphWriter, c: SamConfig): Value {
  const width = c.prompts.hidden_size;
  const row = (name: string) =>
    g.node('Reshape', [g.weight(`prompt_encoder.${name}.weight`, [1, width]), g.ints([1, 1, width])]);
  const given = g.input('input_points', 'float32', [1, 'prompts', 'points', 2]);
  const labels = g.input('input_labels', 'int64', [1, 'prompts', 'points']);
  const points = g.node('Squeeze', [given, g.ints([0])]);
  const kinds = g.node('Unsqueeze', [g.node('Squeeze', [labels, g.ints([0])]), g.ints([2])]);
  const is = (label: number) => g.node('Equal', [kinds, g.ints([label], [])]);
  const middle = g.node('Add', [points, g.scalar(0.5)]);
  const placed = waves(g, g.node('Div', [middle, g.scalar(c.prompts.image_size)]), c);
  const found = g.node('Where', [is(NO_POINT), row('not_a_point_embed'), placed]);
  const seen = g.node('Where', [is(PADDING), g.scalar(0), found]);
  const labelled = [0, 1].reduce((x, label) => {
    const added = g.node('Where', [is(label), row(`point_embed.${label}`), g.scalar(0)]);
    return g.node('Add', [x, added]);
  }, seen);
  return g.node('Concat', [labelled, ofPrompts(g, row('not_a_point_embed'), points)], { axis: 1 });
}

interface Perceptron {
  from: number;
  inner: number;
  to: number;
  depth: number;
}

/** Layers with ReLU between them: float32 [..., from] -> [..., to]. */
function perceptron(g: GraphWriter, x: Value, at: string, { from, inner, to, depth }: Perceptron): Value {
  let read = g.node('Relu', [linear(g, x, `${at}.proj_in`, { from, to: inner })]);
  for (let i = 0; i < depth - 2; i++)
    read = g.node('Relu', [linear(g, read, `${at}.layers.${i}`, { from: inner, to: inner })]);
  return linear(g, read, `${at}.proj_out`, { from: inner, to });
}

/** The picture at four times the edge, an eighth of the width: float32 [prompts, width, lines, columns]. */
function enlarged(g: GraphWriter, cells: Value, c: SamConfig): Value {
  const width = c.masks.hidden_size;
  const twice = (x: Value, name: string, from: number, to: number) => {
    const weight = g.weight(`mask_decoder.${name}.weight`, [from, to, 2, 2]);
    const inputs = [x, weight, g.weight(`mask_decoder.${name}.bias`, [to])];
    return g.node('ConvTranspose', inputs, { kernel_shape: [2, 2], strides: [2, 2] });
  };
  const picture = pictureOf(g, cells, g.ints([c.pictures.edge, c.pictures.edge]));
  const first = twice(picture, 'upscale_conv1', width, width / 4);
  const norm = { width: width / 4, epsilon: EPSILON };
  const normed = channelNorm(g, first, 'mask_decoder.upscale_layer_norm', norm);
  return g.node('Gelu', [twice(g.node('Gelu', [normed]), 'upscale_conv2', width / 4, width / 8)]);
}

/** Declares masks and their scores for each prompt, without the one that would stand alone. */
function writeMasks(g: GraphWriter, c: SamConfig): void {
  const { hidden_size: width, num_multimask_outputs: count, ...masks } = c.masks;
  const edge = c.pictures.edge;
  const picture = g.input('image_embeddings', 'float32', [1, width, edge, edge]);
  const points = pointTokens(g, c);
  const named = (name: string, rows: number) => g.weight(`mask_decoder.${name}.weight`, [rows, width]);
  const answers = g.node('Concat', [named('iou_token', 1), named('mask_tokens', count + 1)], { axis: 0 });
  const learnt = ofPrompts(g, g.node('Unsqueeze', [answers, g.ints([0])]), points);
  const none = g.weight('prompt_encoder.no_mask_embed.weight', [1, width]);
  const { tokens, cells } = twoWay(g, c, {
    tokens: g.node('Concat', [learnt, points], { axis: 1 }),
    cells: g.node('Add', [tokensOf(g, picture), none]),
  });
  const large = g.node('Reshape', [enlarged(g, cells, c), g.ints([0, 0, -1])]);
  const filters = Array.from({ length: count }, (_, i) => {
    const size = { from: width, inner: width, to: width / 8, depth: 3 };
    const token = tokensFrom(g, tokens, i + 2, i + 3);
    return perceptron(g, token, `mask_decoder.output_hypernetworks_mlps.${i + 1}`, size);
  });
  const found = g.node('MatMul', [g.node('Concat', filters, { axis: 1 }), large]);
  const shaped = g.node('Reshape', [found, g.ints([1, -1, count, 4 * edge, 4 * edge])]);
  const scores = perceptron(g, tokensFrom(g, tokens, 0, 1), 'mask_decoder.iou_prediction_head', {
    ...{ from: width, inner: masks.iou_head_hidden_dim, to: count + 1, depth: masks.iou_head_depth },
  });
  const several = g.node('Slice', [scores, g.ints([1]), g.ints([2 ** 53]), g.ints([2])]);
  const rows = g.node('Reshape', [several, g.ints([1, -1, count])]);
  g.output('iou_scores', rows, 'float32', [1, 'prompts', count]);
  g.output('pred_masks', shaped, 'float32', [1, 'prompts', count, 4 * edge, 4 * edge]);
}

const heads: Architecture<SamConfig>['heads'] = {
  'mask-generation': {
    vision_encoder: (g, { pictures: c }) =>
      g.output('image_embeddings', samPictures(g, c), 'float32', ['rows', c.output_channels, c.edge, c.edge]),
    prompt_encoder_mask_decoder: writeMasks,
  },
};

/** A picture is read once, and prompts of points are answered with masks. modeling_sam.py */
export const sam = defineArchitecture({ modelTypes: ['sam'], config: samConfig, prefixes: ['sam.'], heads });
