import * as z from 'zod';
import { float } from '../writer/attributes.js';
import { GraphError } from '../writer/errors.js';
import { type GraphWriter, MICROSOFT, type Value } from '../writer/graph-writer.js';
import { activation } from './activation.js';
import { causalConvolution } from './causal-convolution.js';
import type { DecoderInputs } from './decoder-inputs.js';
import { headGroup } from './head-sizes.js';
import { linear, matMulTransposed } from './linear.js';

/** Mamba 2: layers that keep a state of fixed size in place of keys and values of all former tokens. */

const size = z.int().min(1).max(65536);

/** Sizes of such layers among others, by their names in configurations. */
export const mambaConfig = {
  mamba_n_heads: size.default(128),
  mamba_n_groups: size.default(1),
  mamba_d_state: size.default(256),
  mamba_d_head: z.union([size, z.literal('auto')]).default('auto'),
  mamba_d_conv: z.int().min(2).max(64).default(4),
  mamba_expand: z.number().positive().max(64).default(2),
  mamba_conv_bias: z.boolean().default(true),
  mamba_proj_bias: z.boolean().default(false),
};

/** @param inner of all heads together; `mamba_expand` times the width if absent */
export function mambaSizes(
  c: z.output<z.ZodObject<typeof mambaConfig>> & Record<'hidden_size' | 'num_hidden_layers', number>,
  inner = Math.floor(c.mamba_expand * c.hidden_size),
) {
  const headWidth = c.mamba_d_head === 'auto' ? inner / c.mamba_n_heads : c.mamba_d_head;
  if (headWidth * c.mamba_n_heads !== inner || !Number.isInteger(headWidth))
    throw new GraphError(
      `config.json: ${c.mamba_n_heads} heads (mamba_n_heads) don't make up a width of ${inner}`,
    );
  return {
    ...{ width: c.hidden_size, heads: c.mamba_n_heads, headWidth, groups: c.mamba_n_groups },
    ...{ state: c.mamba_d_state, kernel: c.mamba_d_conv },
    bias: { convolution: c.mamba_conv_bias, input: c.mamba_proj_bias, output: c.mamba_proj_bias },
  };
}

export interface StateSpace {
  layer: number;
  /** Of what comes in and goes out. */
  width: number;
  heads: number;
  headWidth: number;
  /** Heads of a group read and write the state by the same vectors. */
  groups: number;
  /** Numbers that are kept for each number of a head. */
  state: number;
  /** Tokens that the convolution sees. */
  kernel: number;
  epsilon: number;
  act: string;
  bias: { convolution: boolean; input: boolean; output: boolean };
  /** Bounds of time steps; above 0 if absent. */
  limits?: readonly [least: number, most: number] | undefined;
  /** Bound below of steps, but for a single token behind others, to which Python gives none. */
  leastAtFirst?: number;
  /** Factors of the input and of its projection, [2 · inner + 2 · groups · state + heads]. */
  factors?: { input: number; projection: readonly number[] } | undefined;
  /** The norm of what is read out, and whether it stands before the gate; `none`: only the gate. */
  norm?: 'behind the gate' | 'before the gate' | 'none' | undefined;
  /** Parts that are normed by themselves; 1 if absent. */
  normGroups?: number | undefined;
  at(name: string): string;
}

/** float32 [rows, tokens, width] of the same. modeling_mamba2.py */
export function stateSpace(g: GraphWriter, x: Value, inputs: DecoderInputs, of: StateSpace): Value {
  const { layer, width, heads, headWidth, groups, state, kernel, bias, at, factors } = of;
  const inner = heads * headWidth;
  const channels = inner + 2 * groups * state;
  const to = inner + channels + heads;
  const read = factors ? g.node('Mul', [x, g.scalar(factors.input)]) : x;
  const plain = linear(g, read, at('in_proj'), { from: width, to, bias: bias.input });
  const projected = factors ? g.node('Mul', [plain, g.floats(factors.projection)]) : plain;
  const [gate, mixed, steps] = split(g, projected, [inner, channels, heads]) as [Value, Value, Value];
  const convolution = { layer, channels, kernel, bias: bias.convolution, name: at('conv1d') };
  const convolved = activation(g, causalConvolution(g, mixed, inputs, convolution), of.act);
  const [values, write, readBy] = split(g, convolved, [inner, groups * state, groups * state]) as [
    ...[Value, Value, Value],
  ];
  const found = scanned(g, inputs, { values, write, readBy, steps }, of);
  return linear(g, gatedNorm(g, found, gate, of), at('out_proj'), {
    from: inner,
    to: width,
    bias: bias.output,
  });
}

const split = (g: GraphWriter, x: Value, sizes: readonly number[]): Value[] =>
  g.nodes('Split', [x, g.ints(sizes)], { outputs: sizes.length, attributes: { axis: -1 } });

interface Scanned {
  /** float32 [rows, tokens, heads · width of a head] */
  values: Value;
  /** By which they are written into the state and read from it: float32 [rows, tokens, groups · state]. */
  write: Value;
  readBy: Value;
  /** float32 [rows, tokens, heads] */
  steps: Value;
}

/**
 * The recurrence over all fed tokens at once: state = decay · state + step · value · writeᵀ, answer = state · read + D · value.
 * Tokens read what those before them wrote by a matrix of decays [tokens, tokens], and what the state holds beside that.
 */
function scanned(
  g: GraphWriter,
  inputs: DecoderInputs,
  { values, write, readBy, steps }: Scanned,
  of: StateSpace,
): Value {
  const { layer, heads, headWidth, groups, state, at } = of;
  const each = headGroup(heads, groups);
  const dims = [heads, headWidth, state];
  /** [rows, tokens, groups · m · n] -> [rows, groups, m, tokens, n] */
  const byGroup = (value: Value, m: number, n: number) =>
    g.node('Transpose', [g.node('Reshape', [value, g.ints([0, 0, groups, m, n])])], {
      perm: [0, 2, 3, 1, 4],
    });
  const time = timeSteps(g, steps, inputs, of);
  const rates = g.node('Neg', [g.node('Exp', [g.weight(at('A_log'), [heads])])]);
  // [rows, groups, heads of a group, tokens, 1]
  const [step, logs] = [time, g.node('Mul', [time, rates])].map((value) => byGroup(value, each, 1)) as [
    Value,
    Value,
  ];
  const [own, toWrite, toRead] = [
    byGroup(values, each, headWidth),
    byGroup(write, 1, state),
    byGroup(readBy, 1, state),
  ];
  const stepped = g.node('Mul', [own, step]);
  const decays = g.node('Exp', [decayLogs(g, inputs, logs)]);
  const former = g.node('Reshape', [
    inputs.state('ssm', layer, dims),
    g.ints([0, groups, each, headWidth, state]),
  ]);
  const total = g.node('Exp', [g.node('CumSum', [logs, g.ints([3], [])])]);

  const shares = g.node('Mul', [matMulTransposed(g, toRead, toWrite), decays]);
  const fresh = g.node('MatMul', [shares, stepped]);
  const kept = g.node('Mul', [matMulTransposed(g, toRead, former), total]);
  const through = g.node('Mul', [
    own,
    g.node('Reshape', [g.weight(at('D'), [heads]), g.ints([1, groups, each, 1, 1])]),
  ]);
  const answer = g.node('Add', [g.node('Add', [fresh, kept]), through]);

  const end = [g.ints([-1]), g.ints([2 ** 53]), g.ints([3])];
  // How much of what each token wrote is left after the last one: [rows, groups, heads of a group, tokens, 1].
  const left = g.node('Transpose', [g.node('Slice', [decays, ...end])], { perm: [0, 1, 2, 4, 3] });
  const written = g.node('FusedMatMul', [g.node('Mul', [stepped, left]), toWrite], { transA: 1 }, MICROSOFT);
  const faded = g.node('Mul', [former, g.node('Slice', [total, ...end])]);
  const next = g.node('Reshape', [g.node('Add', [faded, written]), g.ints([0, heads, headWidth, state])]);
  inputs.nextState('ssm', layer, next, dims);

  const together = g.node('Transpose', [answer], { perm: [0, 3, 1, 2, 4] });
  return g.node('Reshape', [together, g.ints([0, 0, heads * headWidth])]);
}

/** How long each token lasts for each head: float32 [rows, tokens, heads] of the same. */
function timeSteps(
  g: GraphWriter,
  steps: Value,
  inputs: DecoderInputs,
  { heads, limits, leastAtFirst, at }: StateSpace,
): Value {
  const positive = g.node('Softplus', [g.node('Add', [steps, g.weight(at('dt_bias'), [heads])])]);
  if (leastAtFirst) return g.node('Max', [positive, leastSteps(g, inputs, leastAtFirst)]);
  if (!limits) return positive;
  const [least, most] = limits.map((limit) => (Number.isFinite(limit) ? g.scalar(limit) : ''));
  return g.node('Clip', [positive, least!, most!]);
}

/** float32 [rows, tokens, 1]: 0 for a single token behind others. */
const leastSteps = (g: GraphWriter, { tokens, positions }: DecoderInputs, least: number): Value =>
  g.once(`least time steps ${least}`, () => {
    const several = g.node('Greater', [tokens, g.ints([1])]);
    const first = g.node('Equal', [positions, g.ints([0], [])]);
    const bounds = g.node('Where', [g.node('Or', [several, first]), g.scalar(least), g.scalar(0)]);
    return g.node('Unsqueeze', [bounds, g.ints([2])]);
  });

/** Logarithm of nothing. */
const NOTHING = -1e30;

/**
 * Of how much of a token's values the tokens behind it find, float32 [rows, groups, heads of a group, tokens, tokens], of logarithms of
 * each token's decay [rows, groups, heads of a group, tokens, 1]. Summed from each token on, as Python does: differences of sums
 * from the first one on would lose digits.
 */
function decayLogs(g: GraphWriter, { tokens }: DecoderInputs, logs: Value): Value {
  const triangle = (diagonal: number) =>
    g.once(`tokens before others ${diagonal}`, () => {
      const square = g.node('Expand', [g.scalar(1), g.node('Concat', [tokens, tokens], { axis: 0 })]);
      return g.node('Trilu', [square, g.ints([diagonal], [])], { upper: 0 });
    });
  const sums = g.node('CumSum', [g.node('Mul', [logs, triangle(-1)]), g.ints([3], [])]);
  const hidden = g.once('tokens behind others', () =>
    g.node('Mul', [g.node('Sub', [g.scalar(1), triangle(0)]), g.scalar(NOTHING)]),
  );
  return g.node('Add', [sums, hidden]);
}

function gatedNorm(g: GraphWriter, x: Value, gate: Value, of: StateSpace): Value {
  const { heads, headWidth, epsilon, norm = 'behind the gate', normGroups = 1, at } = of;
  const inner = heads * headWidth;
  const opened = (value: Value) => g.node('Mul', [value, activation(g, gate, 'silu')]);
  const normed = (value: Value) => {
    const width = headGroup(inner, normGroups);
    const parts = g.node('Reshape', [value, g.ints([0, 0, normGroups, width])]);
    const ones = g.floats(new Float32Array(width).fill(1));
    const found = g.node('SimplifiedLayerNormalization', [parts, ones], {
      axis: -1,
      epsilon: float(epsilon),
    });
    return g.node('Mul', [
      g.node('Reshape', [found, g.ints([0, 0, inner])]),
      g.weight(at('norm.weight'), [inner]),
    ]);
  };
  if (norm === 'none') return opened(x);
  return norm === 'before the gate' ? opened(normed(x)) : normed(opened(x));
}
