import { GraphError } from '../writer/errors.js';
import { ELEMENTS } from '../writer/tensors.js';
import { type GraphWriter, MICROSOFT, type Value } from '../writer/graph-writer.js';
import { type Frequencies, type RotaryConfig, rotaryFrequencies } from './rope-frequencies.js';

/** Angles of all tokens, for every layer that turns by these frequencies. */
export interface Rotary {
  /** float32 [rows · tokens, width / 2] */
  cosine: Value;
  sine: Value;
  /** int64 [rows, tokens]: which line of those is whose. */
  lines: Value;
  /** Dimensions of a head that are turned. */
  width: number;
}

/**
 * The angles of a configuration; made once for each graph.
 * @param positions int64 [rows, tokens], or [axes, rows, tokens] for a configuration that counts on several
 */
export function rotary(g: GraphWriter, positions: Value, config: RotaryConfig, headWidth: number): Rotary {
  const frequencies = rotaryFrequencies(config, headWidth);
  return g.once(`rotary ${JSON.stringify([positions, frequencies, config.axes])}`, () =>
    rotaryAngles(g, positions, frequencies, config.axes),
  );
}

function rotaryAngles(
  g: GraphWriter,
  positions: Value,
  { values, scale, beyond, growth }: Frequencies,
  axes: readonly number[] | undefined,
): Rotary {
  const half = values.length;
  const own = g.floats(values, [1, 1, half]);
  const numbers = g.node('Cast', [positions], { to: ELEMENTS.float32 });
  if (axes) {
    if (beyond || growth)
      throw new GraphError('config.json: rope_scaling by length is for positions on one axis');
    return turns(g, positionsByAxis(g, numbers, axes), { frequencies: own, half, scale });
  }
  const frequencies = beyond
    ? chosenByLength(g, positions, { own, beyond, half })
    : growth
      ? grown(g, positions, own, growth)
      : own;
  return turns(g, g.node('Unsqueeze', [numbers, g.ints([2])]), { frequencies, half, scale });
}

/** For each frequency the place on its axis: float32 [rows, tokens, half] of [axes, rows, tokens]. */
function positionsByAxis(g: GraphWriter, positions: Value, axes: readonly number[]): Value {
  const last = g.node('Transpose', [positions], { perm: [1, 2, 0] });
  return g.node('Gather', [last, g.ints(axes)], { axis: 2 });
}

interface Turns {
  /** float32, one for each pair of dimensions. */
  frequencies: Value;
  /** How many those are. */
  half: number;
  /** Of cosine and sine; 1 if absent. */
  scale?: number;
}

/** The angles of tokens at these positions: float32 [rows, tokens, 1], or one for each frequency. */
export function turns(g: GraphWriter, positions: Value, { frequencies, half, scale = 1 }: Turns): Rotary {
  const angles = g.node('Reshape', [g.node('Mul', [positions, frequencies]), g.ints([-1, half])]);
  const scaled = (value: Value) => (scale === 1 ? value : g.node('Mul', [value, g.scalar(scale)]));
  const shape = g.node('Shape', [positions], { start: 0, end: 2 });
  const count = g.node('ReduceProd', [shape], { keepdims: 0 });
  const range = g.node('Range', [g.ints([0], []), count, g.ints([1], [])]);
  return {
    cosine: scaled(g.node('Cos', [angles])),
    sine: scaled(g.node('Sin', [angles])),
    lines: g.node('Reshape', [range, shape]),
    width: 2 * half,
  };
}

interface ByLength {
  own: Value;
  beyond: NonNullable<Frequencies['beyond']>;
  half: number;
}

/** float32 [rows, 1, width / 2]: those of rows that go on beyond the length, and of the others. */
function chosenByLength(g: GraphWriter, positions: Value, { own, beyond, half }: ByLength): Value {
  const last = g.node('ReduceMax', [positions, g.ints([1])], { keepdims: 1 });
  const long = g.node('GreaterOrEqual', [last, g.ints([beyond.length])]);
  const others = g.floats(beyond.values, [1, 1, half]);
  return g.node('Where', [g.node('Unsqueeze', [long, g.ints([2])]), others, own]);
}

/** float32 [rows, 1, width / 2]: slower the further a row goes on beyond the length. _compute_dynamic_ntk_parameters */
function grown(
  g: GraphWriter,
  positions: Value,
  own: Value,
  { length, factor, powers }: NonNullable<Frequencies['growth']>,
): Value {
  const last = g.node('ReduceMax', [positions, g.ints([1])], { keepdims: 1 });
  const tokens = g.node('Add', [g.node('Cast', [last], { to: ELEMENTS.float32 }), g.scalar(1)]);
  const share = g.node('Mul', [tokens, g.scalar(factor / length)]);
  const ratio = g.node('Max', [g.node('Sub', [share, g.scalar(factor - 1)]), g.scalar(1)]);
  const rows = g.node('Unsqueeze', [ratio, g.ints([2])]);
  return g.node('Mul', [own, g.node('Pow', [rows, g.floats(powers, [1, 1, powers.length])])]);
}

export interface RotaryHeads {
  heads: number;
  /** Of a head; the first dimensions are turned where rotary ones are fewer. */
  width: number;
  /** True where neighbours are pairs, and not the two halves. */
  interleaved?: boolean;
}

/** Turns float32 [rows, tokens, heads · width]. */
export function rotate(
  g: GraphWriter,
  x: Value,
  { cosine, sine, lines, width: turned }: Rotary,
  { heads, width, interleaved = false }: RotaryHeads,
): Value {
  const partial = turned === width ? {} : { rotary_embedding_dim: turned, num_heads: heads };
  const attributes = { interleaved: interleaved ? 1 : 0, ...partial };
  return g.node('RotaryEmbedding', [x, lines, cosine, sine], attributes, MICROSOFT);
}
