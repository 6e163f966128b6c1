import { activation } from '../../layers/activation.js';
import { convolution2d } from '../../layers/convolution.js';
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
  /** Name of the waves of points, where a file has others than those of cells. */
  ownWaves?: string;
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
  /** SAM-HQ: what the image's mask of high quality is made of, float32 [1, width / 8, lines, columns] at four times the edge. */
  quality?: Value;
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
  const own = c.ownWaves !== undefined && g.weights.has(c.ownWaves) ? c.ownWaves : undefined;
  const placed = waves(g, g.node('Div', [middle, g.scalar(c.pixels)]), c.two.waves, own);
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

type Widths = Record<'from' | 'to', number>;

/** An image at twice the edge: float32 [rows, from, lines, columns] -> [rows, to, …]. */
export function doubled(g: GraphWriter, x: Value, name: string, { from, to }: Widths): Value {
  const inputs = [x, g.weight(`${name}.weight`, [from, to, 2, 2]), g.weight(`${name}.bias`, [to])];
  return g.node('ConvTranspose', inputs, { kernel_shape: [2, 2], strides: [2, 2] });
}

/** The same by a layer of the decoder. */
export const twice = (g: GraphWriter, x: Value, name: string, widths: Widths): Value =>
  doubled(g, x, `mask_decoder.${name}`, widths);

/** A norm over channels, and GELU. */
export function normedGelu(g: GraphWriter, x: Value, name: string, width: number): Value {
  return g.node('Gelu', [channelNorm(g, x, `mask_decoder.${name}`, { width, epsilon: EPSILON })]);
}

/**
 * At four times the edge, an eighth of the width: float32 [prompts or 1, width / 8, lines, columns].
 * @param image float32 [prompts or 1, width, lines, columns]
 */
function enlarged(g: GraphWriter, image: Value, { two: { width }, finer }: MaskModel): Value {
  const known = (x: Value, of: Value | undefined) => (of === undefined ? x : g.node('Add', [x, of]));
  const first = twice(g, image, 'upscale_conv1', { from: width, to: width / 4 });
  const normed = normedGelu(g, known(first, finer?.second), 'upscale_layer_norm', width / 4);
  const second = twice(g, normed, 'upscale_conv2', { from: width / 4, to: width / 8 });
  return g.node('Gelu', [known(second, finer?.first)]);
}

/**
 * Declares the prompts; masks and their scores for each of them, without the one that would stand alone.
 * @param image float32 [1, width, lines, columns]
 */
export function writeMasks(g: GraphWriter, image: Value, c: MaskModel): void {
  const { two, count, before, quality } = c;
  const { width, edge } = two;
  const points = pointTokens(g, c);
  const named = (name: string, rows: number) => g.weight(`mask_decoder.${name}.weight`, [rows, width]);
  const answers = [...before.map((name) => named(name, 1)), named('mask_tokens', count + 1)];
  if (quality) answers.push(named('hq_token', 1));
  const together = g.node('Unsqueeze', [g.node('Concat', answers, { axis: 0 }), g.ints([0])]);
  const none = g.weight('prompt_encoder.no_mask_embed.weight', [1, width]);
  const found = twoWay(g, two, {
    tokens: g.node('Concat', [ofPrompts(g, together, points), points], { axis: 1 }),
    cells: g.node('Add', [tokensOf(g, image), none]),
  });
  const { tokens } = found;
  const large = enlarged(
    g,
    quality ? turned(g, image, none) : imageOf(g, found.cells, g.ints([edge, edge])),
    c,
  );
  const flat = flatOf(g, large);
  const filterOf = (name: string, i: number) => {
    const token = tokensFrom(g, tokens, before.length + i, before.length + i + 1);
    const sizes = { from: width, inner: width, to: width / 8, depth: 3 };
    return layersBetween(g, token, `mask_decoder.${name}`, sizes);
  };
  const all = Array.from({ length: count }, (_, i) => filterOf(`output_hypernetworks_mlps.${i + 1}`, i + 1));
  const filters = g.node('Concat', all, { axis: 1 });
  const best = quality ? bestFirst(g, scoresOf(g, tokens, c), { filters, width, count }) : undefined;
  const plain = g.node('MatMul', [best?.filters ?? filters, flat]);
  const masks = quality
    ? g.node('Add', [
        plain,
        qualityMask(g, { large, quality, width, filter: filterOf('hq_mask_mlp', count + 1) }),
      ])
    : plain;
  const shaped = g.node('Reshape', [masks, g.ints([1, -1, count, 4 * edge, 4 * edge])]);
  const scores = best?.scores ?? scoresOf(g, tokens, c);
  g.output('iou_scores', scores, 'float32', [1, 'prompts', count]);
  g.output('pred_masks', shaped, 'float32', [1, 'prompts', count, 4 * edge, 4 * edge]);
}

/**
 * SAM-HQ in transformers makes masks of the image as prompts have not looked at it, lines as columns.
 * @param image float32 [1, width, lines, columns] @param none float32 [1, width]
 */
function turned(g: GraphWriter, image: Value, none: Value): Value {
  const read = g.node('Add', [image, g.node('Unsqueeze', [none, g.ints([2, 3])])]);
  return g.node('Transpose', [read], { perm: [0, 1, 3, 2] });
}

const flatOf = (g: GraphWriter, image: Value): Value => g.node('Reshape', [image, g.ints([0, 0, -1])]);

/** How good each mask is, without the one that would stand alone: float32 [1, prompts, masks]. */
function scoresOf(
  g: GraphWriter,
  tokens: Value,
  { two: { width }, count, before, scores: of }: MaskModel,
): Value {
  const rated = tokensFrom(g, tokens, before.length - 1, before.length);
  const all = layersBetween(g, rated, 'mask_decoder.iou_prediction_head', {
    ...{ from: width, inner: of.inner, to: count + 1, depth: of.depth },
  });
  const several = g.node('Slice', [all, g.ints([1]), g.ints([2 ** 53]), g.ints([2])]);
  const rows = g.node('Reshape', [several, g.ints([1, -1, count])]);
  return of.isShare ? g.node('Sigmoid', [rows]) : rows;
}

/** SAM-HQ's order of masks: the best one first. @param filters float32 [prompts, masks, width / 8] */
function bestFirst(
  g: GraphWriter,
  scores: Value,
  { filters, width, count }: { filters: Value; width: number; count: number },
) {
  const [sorted, order] = g.nodes('TopK', [scores, g.ints([count])], {
    outputs: 2,
    attributes: { axis: 2 },
  }) as [Value, Value];
  const rows = g.node('Reshape', [order, g.ints([-1, count, 1])]);
  const wide = g.node('Expand', [rows, g.ints([1, 1, width / 8])]);
  return { scores: sorted, filters: g.node('GatherElements', [filters, wide], { axis: 1 }) };
}

interface QualityOf {
  /** The enlarged image, and what the encoder of images knows of it: float32 [prompts or 1, width / 8, lines, columns]. */
  large: Value;
  quality: Value;
  width: number;
  /** float32 [prompts, 1, width / 8] */
  filter: Value;
}

/** SAM-HQ's mask of high quality, which is added to the others: float32 [prompts, 1, pixels]. */
function qualityMask(g: GraphWriter, { large, quality, width, filter }: QualityOf): Value {
  const [narrow, wide] = [width / 8, width / 4];
  const first = convolution2d(g, large, 'mask_decoder.mask_conv1', {
    ...{ from: narrow, to: wide, kernel: 3 },
  });
  const normed = normedGelu(g, first, 'mask_norm', wide);
  const second = convolution2d(g, normed, 'mask_decoder.mask_conv2', {
    ...{ from: wide, to: narrow, kernel: 3 },
  });
  return g.node('MatMul', [filter, flatOf(g, g.node('Add', [second, quality]))]);
}
