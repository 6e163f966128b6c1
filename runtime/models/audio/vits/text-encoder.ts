import { activation } from '../../layers/activation.js';
import { byHead } from '../../layers/split-heads.js';
import { convolution } from '../../layers/convolution.js';
import { headWidth } from '../../layers/head-sizes.js';
import { linear, lookedUp, matMulTransposed } from '../../layers/linear.js';
import { layerNorm, skipLayerNorm } from '../../layers/norm.js';
import { distances, positionsOf } from '../../layers/text-inputs.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { ELEMENTS } from '../../writer/tensors.js';
import type { VitsConfig } from './config.js';

/** float32 [rows, steps, channels] <-> [rows, channels, steps] */
export const turned = (g: GraphWriter, x: Value): Value => g.node('Transpose', [x], { perm: [0, 2, 1] });

/** int64 [1, letters] without padding -> float32 [1, letters, hidden_size]. */
export function textStates(g: GraphWriter, ids: Value, c: VitsConfig): Value {
  const width = c.hidden_size;
  const table = 'text_encoder.embed_tokens.weight';
  let x = g.node('Mul', [
    ...[lookedUp(g, ids, table, { rows: c.vocab_size, width }), g.scalar(Math.sqrt(width))],
  ]);
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const at = `text_encoder.encoder.layers.${i}`;
    const size = { width, epsilon: c.layer_norm_eps };
    const middle = skipLayerNorm(g, [x, attend(g, x, `${at}.attention`, c)], `${at}.layer_norm`, size);
    x = skipLayerNorm(g, [middle, feedForward(g, middle, at, c)], `${at}.final_layer_norm`, size);
  }
  return x;
}

function feedForward(g: GraphWriter, x: Value, at: string, c: VitsConfig): Value {
  const kernel = c.ffn_kernel_size;
  const [before, behind] = [Math.floor((kernel - 1) / 2), Math.floor(kernel / 2)];
  const convolved = (read: Value, name: string, from: number, to: number) => {
    const padded =
      kernel === 1 ? read : g.node('Pad', [read, g.ints([0, 0, before, 0, 0, behind]), g.scalar(0)]);
    return convolution(g, padded, `${at}.feed_forward.${name}`, { from, to, kernel: [kernel] });
  };
  const wide = activation(g, convolved(turned(g, x), 'conv_1', c.hidden_size, c.ffn_dim), c.hidden_act);
  return turned(g, convolved(wide, 'conv_2', c.ffn_dim, c.hidden_size));
}

/** Attention that knows how far letters within a window lie apart, in its scores and in what it gives. */
function attend(g: GraphWriter, x: Value, at: string, c: VitsConfig): Value {
  const { hidden_size: width, num_attention_heads: heads, window_size: window } = c;
  const size = headWidth(width, heads);
  const [query, key, value] = ['q_proj', 'k_proj', 'v_proj'].map((name) => {
    const projected = linear(g, x, `${at}.${name}`, { from: width, to: width, bias: c.use_bias });
    return byHead(g, projected, heads, size);
  }) as [Value, Value, Value];
  const scaled = g.node('Mul', [query, g.scalar(size ** -0.5)]);
  const scores = matMulTransposed(g, scaled, key);
  const near = window === null ? undefined : nearLetters(g, x, { window, heads });
  const table = (letter: string) => g.weight(`${at}.emb_rel_${letter}`, [1, 2 * window! + 1, size]);
  const moved = near ? g.node('Add', [scores, near.spread(matMulTransposed(g, scaled, table('k')))]) : scores;
  const shares = g.node('Softmax', [moved], { axis: -1 });
  const given = g.node('MatMul', [shares, value]);
  const all = near ? g.node('Add', [given, g.node('MatMul', [near.gathered(shares), table('v')])]) : given;
  const together = g.node('Reshape', [
    ...[g.node('Transpose', [all], { perm: [0, 2, 1, 3] }), g.ints([0, 0, width])],
  ]);
  return linear(g, together, `${at}.out_proj`, { from: width, to: width, bias: c.use_bias });
}

interface Near {
  /** By distance [1, heads, letters, distances] -> by letter [1, heads, letters, letters], 0 beyond the window. */
  spread(x: Value): Value;
  /** The other way round, 0 for distances that reach beyond the text. */
  gathered(x: Value): Value;
}

function nearLetters(g: GraphWriter, x: Value, { window, heads }: { window: number; heads: number }): Near {
  return g.once('vits near letters', () => {
    const scalar = (value: number) => g.ints([value], []);
    const each = (index: Value) => {
      const shape = g.node('Concat', [g.ints([1, heads]), g.node('Shape', [index])], { axis: 0 });
      return g.node('Expand', [index, shape]);
    };
    const within = (index: Value, last: Value) =>
      g.node('And', [
        ...[g.node('GreaterOrEqual', [index, scalar(0)]), g.node('LessOrEqual', [index, last])],
      ]);
    const taken = (x: Value, index: Value, last: Value) => {
      const clipped = g.node('Max', [g.node('Min', [index, last]), scalar(0)]);
      const found = g.node('GatherElements', [x, each(clipped)], { axis: 3 });
      return g.node('Mul', [found, g.node('Cast', [within(index, last)], { to: ELEMENTS.float32 })]);
    };
    const positions = positionsOf(g, x);
    const rows = g.node('Unsqueeze', [positions, g.ints([1])]);
    const steps = Array.from({ length: 2 * window + 1 }, (_, i) => i - window);
    const reached = g.node('Add', [rows, g.ints(steps)]);
    const last = g.node('ReduceMax', [positions], { keepdims: 0 });
    const distance = g.node('Add', [distances(g, x), scalar(window)]);
    return {
      spread: (x) => taken(x, distance, scalar(2 * window)),
      gathered: (x) => taken(x, reached, last),
    };
  });
}

/** Means and logarithms of variances of each letter: float32 [1, letters, 2 · flow_size]. */
export function letterStats(g: GraphWriter, states: Value, c: VitsConfig): Value {
  const size = { from: c.hidden_size, to: 2 * c.flow_size, kernel: [1] };
  return turned(g, convolution(g, turned(g, states), 'text_encoder.project', size));
}

/** A LayerNorm over the channels of [rows, channels, steps]. */
export const channelNorm = (
  g: GraphWriter,
  x: Value,
  name: string,
  size: { width: number; epsilon: number },
): Value => turned(g, layerNorm(g, turned(g, x), name, size));
