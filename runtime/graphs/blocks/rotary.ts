import { ELEMENTS } from '../tensors.js';
import { type GraphWriter, MICROSOFT, type Value } from '../graph-writer.js';
import { type Frequencies, type RotaryConfig, rotaryFrequencies } from './rotary-frequencies.js';

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
 * @param positions int64 [rows, tokens]
 */
export function rotary(g: GraphWriter, positions: Value, config: RotaryConfig, headWidth: number): Rotary {
  const frequencies = rotaryFrequencies(config, headWidth);
  return g.once(`rotary ${JSON.stringify([positions, frequencies])}`, () =>
    rotaryAngles(g, positions, frequencies),
  );
}

function rotaryAngles(g: GraphWriter, positions: Value, { values, scale, beyond }: Frequencies): Rotary {
  const half = values.length;
  const place = g.node('Unsqueeze', [g.node('Cast', [positions], { to: ELEMENTS.float32 }), g.ints([2])]);
  const own = g.floats(values, [1, 1, half]);
  const frequencies = beyond ? chosenByLength(g, positions, { own, beyond, half }) : own;
  const angles = g.node('Reshape', [g.node('Mul', [place, frequencies]), g.ints([-1, half])]);
  const scaled = (value: Value) => (scale === 1 ? value : g.node('Mul', [value, g.scalar(scale)]));
  const shape = g.node('Shape', [positions]);
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
