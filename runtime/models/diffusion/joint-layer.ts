import { activation } from '../layers/activation.js';
import { attention, type Attended } from '../layers/attention.js';
import { linear } from '../layers/linear.js';
import {
  modulated,
  modulatedNorm,
  type Modulation,
  modulations,
  plainNorm,
} from '../layers/adaptive-norm.js';
import { headNorm } from '../layers/norm.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

/** Layers in which tokens of an image and of its text attend to all of both (Esser et al., 2024). */

export interface JointSize {
  heads: number;
  /** Of a head. */
  headWidth: number;
  /** Queries and keys have norms of their own. */
  normed: boolean;
  /** Turns heads of queries and keys of the text and then the image, where positions are told so. */
  turn?: ((x: Value) => Value) | undefined;
}

/** float32 [rows, tokens, width] each; `context` is the text's. */
export interface Joint {
  sample: Value;
  context: Value;
}

export interface JointLayer extends JointSize {
  by: Modulation;
  /** The last layer, behind which nobody reads the text. */
  isLast?: boolean;
  /** The image attends to itself once more. */
  isDual?: boolean;
}

const EPSILON = 1e-6;

const NAMES = {
  sample: { query: 'to_q', key: 'to_k', value: 'to_v', queryNorm: 'norm_q', keyNorm: 'norm_k' },
  context: {
    ...{ query: 'add_q_proj', key: 'add_k_proj', value: 'add_v_proj' },
    ...{ queryNorm: 'norm_added_q', keyNorm: 'norm_added_k' },
  },
} as const;

/** Queries, keys and values of some tokens. */
export function projections(
  g: GraphWriter,
  x: Value,
  name: string,
  { heads, headWidth, normed, side = 'sample' }: JointSize & { side?: keyof typeof NAMES },
): Attended {
  const width = heads * headWidth;
  const names = NAMES[side];
  const project = (part: string) => linear(g, x, `${name}.${part}`, { from: width, to: width });
  const own = { heads, width: headWidth, epsilon: EPSILON };
  const even = (value: Value, part: string) => (normed ? headNorm(g, value, `${name}.${part}`, own) : value);
  return {
    query: even(project(names.query), names.queryNorm),
    key: even(project(names.key), names.keyNorm),
    value: project(names.value),
  };
}

/** Attention of tokens to each other, queries and keys turned first. */
export function attendTurned(
  g: GraphWriter,
  { query, key, value }: Attended,
  { heads, headWidth, turn = (x) => x }: JointSize,
): Value {
  return attention(g, { query: turn(query), key: turn(key), value }, { heads, width: heads * headWidth });
}

/** The text's tokens stand before the image's. */
function attendJointly(g: GraphWriter, { sample, context }: Joint, name: string, size: JointSize): Joint {
  const own = projections(g, sample, name, size);
  const others = projections(g, context, name, { ...size, side: 'context' });
  const both = (part: keyof Attended) => g.node('Concat', [others[part], own[part]], { axis: 1 });
  const all = { query: both('query'), key: both('key'), value: both('value') };
  const found = attendTurned(g, all, size);
  const lengths = [context, sample].map((x) => g.node('Shape', [x], { start: 1, end: 2 }));
  const [ofContext, ofSample] = g.nodes('Split', [found, g.node('Concat', lengths, { axis: 0 })], {
    ...{ outputs: 2, attributes: { axis: 1 } },
  }) as [Value, Value];
  return { sample: ofSample, context: ofContext };
}

/** diffusers' FeedForward with an approximated GELU. */
function feedForward(g: GraphWriter, x: Value, name: string, width: number): Value {
  const inner = 4 * width;
  const wide = linear(g, x, `${name}.net.0.proj`, { from: width, to: inner });
  const read = activation(g, wide, 'gelu_pytorch_tanh');
  return linear(g, read, `${name}.net.2`, { from: inner, to: width });
}

const gated = (g: GraphWriter, x: Value, gate: Value, found: Value): Value =>
  g.node('Add', [x, g.node('Mul', [gate, found])]);

/** JointTransformerBlock and FluxTransformerBlock of diffusers; the text is given back as it was where nobody reads it. */
export function jointLayer(
  g: GraphWriter,
  { sample, context }: Joint,
  name: string,
  layer: JointLayer,
): Joint {
  const { by, isLast = false, isDual = false, ...size } = layer;
  const { width } = by;
  const at = (part: string) => `${name}.${part}`;
  const own = modulations(g, at('norm1'), by, isDual ? 9 : 6);
  const normed = plainNorm(g, sample, width);
  const read = modulated(g, normed, { shift: own[0]!, scale: own[1]! });
  const others = isLast ? undefined : modulations(g, at('norm1_context'), by, 6);
  const readContext = others
    ? modulated(g, plainNorm(g, context, width), { shift: others[0]!, scale: others[1]! })
    : modulatedNorm(g, context, at('norm1_context'), by);
  const found = attendJointly(g, { sample: read, context: readContext }, at('attn'), size);
  const square = { from: width, to: width };
  const first = gated(g, sample, own[2]!, linear(g, found.sample, at('attn.to_out.0'), square));
  const middle = isDual
    ? gated(g, first, own[8]!, attendAgain(g, normed, own, { name, width, size }))
    : first;
  const fed = (x: Value, parts: readonly Value[], part: string) => {
    const input = modulated(g, plainNorm(g, x, width), { shift: parts[3]!, scale: parts[4]! });
    return gated(g, x, parts[5]!, feedForward(g, input, at(part), width));
  };
  const next = fed(middle, own, 'ff');
  if (!others) return { sample: next, context };
  const attended = linear(g, found.context, at('attn.to_add_out'), square);
  return { sample: next, context: fed(gated(g, context, others[2]!, attended), others, 'ff_context') };
}

/** What the image's tokens find among themselves. */
function attendAgain(
  g: GraphWriter,
  normed: Value,
  own: readonly Value[],
  { name, width, size }: { name: string; width: number; size: JointSize },
): Value {
  const read = modulated(g, normed, { shift: own[6]!, scale: own[7]! });
  const found = attendTurned(g, projections(g, read, `${name}.attn2`, size), size);
  return linear(g, found, `${name}.attn2.to_out.0`, { from: width, to: width });
}

/** The image's tokens behind those of the text. */
export function withoutContext(g: GraphWriter, all: Value, context: Value): Value {
  const length = g.node('Shape', [context], { start: 1, end: 2 });
  return g.node('Slice', [all, length, g.ints([2 ** 53]), g.ints([1])]);
}
