import { normedConvolution, type NormedSize } from '../../layers/convolution.js';
import { activation } from '../../layers/activation.js';
import { gridOf, imageOf, resize, tokensOf } from '../../layers/patch-embed.js';
import { placedParts } from '../../layers/detr-layer.js';
import { GraphError } from '../../writer/errors.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { ELEMENTS } from '../../writer/tensors.js';
import { backboneFeatures } from '../backbone/index.js';
import type { EncoderConfig } from './config.js';

/** Of the norm behind what reads the backbone. */
const EPSILON = 1e-5;

/** Images of the backbone, the fine ones first, all of one width: float32 [rows, width, lines, columns]. */
export function backboneImages(g: GraphWriter, pixels: Value, c: EncoderConfig): Value[] {
  const found = backboneFeatures(g, pixels, c.backbone_config, 'model.backbone.model.');
  if (found.length !== c.encoder_in_channels.length)
    throw new GraphError('config.json: encoder_in_channels has another length than what the backbone gives');
  return found.map(({ features, width: from }, level) => {
    const at = `model.encoder_input_proj.${level}`;
    const size = { from, to: c.encoder_hidden_dim, kernel: 1, epsilon: EPSILON };
    return normedConvolution(g, features, { convolution: `${at}.0`, norm: `${at}.1` }, size);
  });
}

/** A convolution that the names of `conv` and `norm` belong to, of images of the encoder's width if not told. */
export function convolved(
  g: GraphWriter,
  x: Value,
  { c, at, ...size }: { c: EncoderConfig; at: string } & Partial<NormedSize>,
): Value {
  const width = c.encoder_hidden_dim;
  const whole = { from: width, to: width, kernel: 1, epsilon: c.batch_norm_eps, ...size };
  return normedConvolution(g, x, { convolution: `${at}.conv`, norm: `${at}.norm` }, whole);
}

const acted = (g: GraphWriter, x: Value, act: string | null): Value =>
  act === null ? x : activation(g, x, act);

export interface TwoWays {
  at: string;
  from: number;
  /** Of what comes out; as wide within, but for a share of it. */
  to: number;
  expansion: number;
  /** Of layers on the longer way. */
  blocks: number;
}

/** An image read on two ways: float32 [rows, width, lines, columns]. */
export function twoWays(
  g: GraphWriter,
  x: Value,
  c: EncoderConfig,
  { at, from, to, expansion, blocks }: TwoWays,
): Value {
  const act = c.activation_function ?? undefined;
  const inner = Math.trunc(to * expansion);
  const wide = { c, from, to: inner, act };
  let far = convolved(g, x, { ...wide, at: `${at}.conv1` });
  for (let i = 0; i < blocks; i++) {
    const size = { c, from: inner, to: inner };
    const parts = [3, 1].map((kernel, part) =>
      convolved(g, far, { ...size, kernel, at: `${at}.bottlenecks.${i}.conv${part + 1}` }),
    );
    far = acted(g, g.node('Add', parts), c.activation_function);
  }
  const sum = g.node('Add', [far, convolved(g, x, { ...wide, at: `${at}.conv2` })]);
  return inner === to ? sum : convolved(g, sum, { c, at: `${at}.conv3`, from: inner, to, act });
}

/** How images of two sizes become one, and how they become smaller. */
export interface Joining {
  /** Activation behind what coarse images are read with. */
  act: string | undefined;
  /** @param both images side by side, twice as wide */
  fuse(g: GraphWriter, both: Value, at: string): Value;
  halve(g: GraphWriter, x: Value, at: string): Value;
}

/** RT-DETR's. */
export function rtDetrJoining(c: EncoderConfig): Joining {
  const act = c.activation_function ?? undefined;
  const width = c.encoder_hidden_dim;
  const size = { from: 2 * width, to: width, expansion: c.hidden_expansion, blocks: 3 };
  return {
    act,
    fuse: (g, both, at) => twoWays(g, both, c, { at, ...size }),
    halve: (g, x, at) => convolved(g, x, { c, kernel: 3, stride: 2, act, at }),
  };
}

/** Positions of cells as Python has them, which counts through columns first: float32 [1, cells, width]. */
function positions(
  g: GraphWriter,
  grid: Value,
  { encoder_hidden_dim, positional_encoding_temperature }: EncoderConfig,
): Value {
  const quarter = encoder_hidden_dim / 4;
  const rates = Array.from(
    { length: quarter },
    (_, i) => 1 / positional_encoding_temperature ** (i / quarter),
  );
  const lines = g.node('Gather', [grid, g.ints([0], [])]);
  const count = g.node('ReduceProd', [grid], { keepdims: 0 });
  const cells = g.node('Range', [g.ints([0], []), count, g.ints([1], [])]);
  const parts = [g.node('Div', [cells, lines]), g.node('Mod', [cells, lines])].flatMap((place) => {
    const number = g.node('Unsqueeze', [g.node('Cast', [place], { to: ELEMENTS.float32 }), g.ints([1])]);
    const angles = g.node('Mul', [number, g.floats(rates)]);
    return [g.node('Sin', [angles]), g.node('Cos', [angles])];
  });
  return g.node('Unsqueeze', [g.node('Concat', parts, { axis: 1 }), g.ints([0])]);
}

/** Cells of an image look at each other. */
function looked(g: GraphWriter, image: Value, c: EncoderConfig, at: string): Value {
  const grid = gridOf(g, image);
  const placed = { x: tokensOf(g, image), positions: positions(g, grid, c) };
  const part = {
    ...{ width: c.encoder_hidden_dim, heads: c.encoder_attention_heads, inner: c.encoder_ffn_dim },
    ...{ act: c.encoder_activation_function, epsilon: c.layer_norm_eps, normsBefore: false },
  };
  for (let i = 0; i < c.encoder_layers; i++) {
    const { attend, feedForward } = placedParts(g, `${at}.layers.${i}`, part);
    placed.x = feedForward(attend(placed, 'self_attn'));
  }
  return imageOf(g, placed.x, grid);
}

/** Images that have seen the coarser ones and then the finer ones. @param given the fine ones first */
export function hybridEncoder(
  g: GraphWriter,
  given: readonly Value[],
  c: EncoderConfig,
  { act, fuse, halve }: Joining,
): Value[] {
  const at = (name: string) => `model.encoder.${name}`;
  const fused = (parts: readonly Value[], name: string) =>
    fuse(g, g.node('Concat', parts, { axis: 1 }), at(name));
  const images = [...given];
  if (c.encoder_layers > 0)
    c.encode_proj_layers.forEach((level, i) => {
      images[level] = looked(g, images[level]!, c, at(`encoder.${i}`));
    });
  const coarse = [images.pop()!];
  images.toReversed().forEach((finer, i) => {
    const read = convolved(g, coarse.pop()!, { c, at: at(`lateral_convs.${i}`), act });
    const larger = resize(g, read, twice(g, read), { mode: 'nearest' });
    coarse.push(read, fused([larger, finer], `fpn_blocks.${i}`));
  });
  const found = [coarse.pop()!];
  coarse.toReversed().forEach((image, i) => {
    const smaller = halve(g, found.at(-1)!, at(`downsample_convs.${i}`));
    found.push(fused([smaller, image], `pan_blocks.${i}`));
  });
  return found;
}

/** int64 [4]: the shape with the grid twice as large. */
const twice = (g: GraphWriter, x: Value): Value =>
  g.node('Mul', [g.node('Shape', [x]), g.ints([1, 1, 2, 2])]);
