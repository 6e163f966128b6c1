import { activation } from '../../layers/activation.js';
import { linear } from '../../layers/linear.js';
import { channelNorm } from '../../layers/norm.js';
import { imageOf, tokensFrom, tokensOf } from '../../layers/patch-embed.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { ofPrompts, type TwoWay, twoWay, waves } from './two-way-transformer.js';

/** How SAM and SAM 2 make masks of prompts. */
export interface MaskModel {
  two: TwoWay;
  /** Edge of the images that points lie in. */
  pixels: number;
  /** Masks of each prompt. */
  count: number;
  /** Of what says how good they are. */
  scores: { inner: number; depth: number; isShare: boolean };
  /** What a point of this label gets: float32 [1, 1, width]. */
  label(g: GraphWriter, label: number): Value;
  /** Names of learned tokens that stand before those of the masks, the one of the scores last. */
  before: readonly string[];
  /** What is known of the image at four times and at twice the edge, of an eighth and a quarter of the width. */
  finer?: { first: Value; second: Value };
}

/** Of norms over channels. */
const EPSILON = 1e-6;

/** Where a label is something else than a position. */
const [NO_POINT, PADDING] = [-1, -10];

/** A table of one row for all: float32 [1, 1, width]. */
export function tableRow(g: GraphWriter, name: string, width: number): Value {
  return g.node('Reshape', [g.weight(`prompt_encoder.${name}.weight`, [1, width]), g.ints([1, 1, width])]);
}

/** Points of each prompt, and a last one that says there are no boxes: float32 [prompts, points + 1, width]. */
function pointTokens(g: GraphWriter, c: MaskModel): Value {
  const none = tableRow(g, 'not_a_point_embed', c.two.width);
  const given = g.input('input_points', 'float32', [1, 'prompts', 'points', 2]);
  const labels = g.input('input_labels', 'int64', [1, 'prompts', 'points']);
  const points = g.node('Squeeze', [given, g.ints([0])]);
  const kinds = g.node('Unsqueeze', [g.node('Squeeze', [labels, g.ints([0])]), g.ints([2])]);
  const is = (label: number) => g.node('Equal', [kinds, g.ints([label], [])]);
  const middle = g.node('Add', [points, g.scalar(0.5)]);
  const placed = waves(g, g.node('Div', [middle, g.scalar(c.pixels)]), c.two.waves);
  const found = g.node('Where', [is(NO_POINT), none, placed]);
  const seen = g.node('Where', [is(PADDING), g.scalar(0), found]);
  const labelled = [0, 1].reduce((x, label) => {
    const added = g.node('Where', [is(label), c.label(g, label), g.scalar(0)]);
    return g.node('Add', [x, added]);
  }, seen);
  return g.node('Concat', [labelled, ofPrompts(g, none, points)], { axis: 1 });
}

interface Layers {
  from: number;
  inner: number;
  to: number;
  depth: number;
  act?: string;
}

/** `proj_in`, layers and `proj_out`, activations between them: float32 [..., from] -> [..., to]. */
export function layersBetween(
  g: GraphWriter,
  x: Value,
  at: string,
  { from, inner, to, depth, act = 'relu' }: Layers,
): Value {
  let read = activation(g, linear(g, x, `${at}.proj_in`, { from, to: inner }), act);
  for (let i = 0; i < depth - 2; i++)
    read = activation(g, linear(g, read, `${at}.layers.${i}`, { from: inner, to: inner }), act);
  return linear(g, read, `${at}.proj_out`, { from: inner, to });
}

/** The image at four times the edge, an eighth of the width: float32 [prompts, width, lines, columns]. */
function enlarged(g: GraphWriter, cells: Value, { two: { width, edge }, finer }: MaskModel): Value {
  const twice = (x: Value, name: string, from: number, to: number) => {
    const weight = g.weight(`mask_decoder.${name}.weight`, [from, to, 2, 2]);
    const inputs = [x, weight, g.weight(`mask_decoder.${name}.bias`, [to])];
    return g.node('ConvTranspose', inputs, { kernel_shape: [2, 2], strides: [2, 2] });
  };
  const known = (x: Value, of: Value | undefined) => (of === undefined ? x : g.node('Add', [x, of]));
  const image = imageOf(g, cells, g.ints([edge, edge]));
  const first = known(twice(image, 'upscale_conv1', width, width / 4), finer?.second);
  const norm = { width: width / 4, epsilon: EPSILON };
  const normed = channelNorm(g, first, 'mask_decoder.upscale_layer_norm', norm);
  const second = twice(g.node('Gelu', [normed]), 'upscale_conv2', width / 4, width / 8);
  return g.node('Gelu', [known(second, finer?.first)]);
}

/**
 * Declares the prompts; masks and their scores for each of them, without the one that would stand alone.
 * @param image float32 [1, width, lines, columns]
 */
export function writeMasks(g: GraphWriter, image: Value, c: MaskModel): void {
  const { two, count, before, scores: of } = c;
  const { width, edge } = two;
  const points = pointTokens(g, c);
  const named = (name: string, rows: number) => g.weight(`mask_decoder.${name}.weight`, [rows, width]);
  const answers = [...before.map((name) => named(name, 1)), named('mask_tokens', count + 1)];
  const together = g.node('Unsqueeze', [g.node('Concat', answers, { axis: 0 }), g.ints([0])]);
  const none = g.weight('prompt_encoder.no_mask_embed.weight', [1, width]);
  const { tokens, cells } = twoWay(g, two, {
    tokens: g.node('Concat', [ofPrompts(g, together, points), points], { axis: 1 }),
    cells: g.node('Add', [tokensOf(g, image), none]),
  });
  const large = g.node('Reshape', [enlarged(g, cells, c), g.ints([0, 0, -1])]);
  const filters = Array.from({ length: count }, (_, i) => {
    const size = { from: width, inner: width, to: width / 8, depth: 3 };
    const at = before.length + i + 1;
    const name = `mask_decoder.output_hypernetworks_mlps.${i + 1}`;
    return layersBetween(g, tokensFrom(g, tokens, at, at + 1), name, size);
  });
  const found = g.node('MatMul', [g.node('Concat', filters, { axis: 1 }), large]);
  const shaped = g.node('Reshape', [found, g.ints([1, -1, count, 4 * edge, 4 * edge])]);
  const rated = tokensFrom(g, tokens, before.length - 1, before.length);
  const all = layersBetween(g, rated, 'mask_decoder.iou_prediction_head', {
    ...{ from: width, inner: of.inner, to: count + 1, depth: of.depth },
  });
  const several = g.node('Slice', [all, g.ints([1]), g.ints([2 ** 53]), g.ints([2])]);
  const rows = g.node('Reshape', [several, g.ints([1, -1, count])]);
  const scores = of.isShare ? g.node('Sigmoid', [rows]) : rows;
  g.output('iou_scores', scores, 'float32', [1, 'prompts', count]);
  g.output('pred_masks', shaped, 'float32', [1, 'prompts', count, 4 * edge, 4 * edge]);
}
