import { attention } from '../../layers/attention.js';
import { batchNorm } from '../../layers/convolution.js';
import { linear } from '../../layers/linear.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';

/** How LeViT's tokens look at each other. */
export interface LevitAttention {
  name: string;
  from: number;
  to: number;
  /** Tokens of a line and of a column. */
  edge: number;
  /** Width of a head's keys, and how much wider its values are. */
  keys: number;
  ratio: number;
  heads: number;
  /** Lines and columns from one token that goes on to the next; all go on if absent. */
  stride?: number;
}

/** A layer whose outputs are normed over all tokens: float32 [rows, tokens, from] -> [rows, tokens, to]. */
export function normedLinear(
  g: GraphWriter,
  x: Value,
  name: string,
  { from, to, tokens }: { from: number; to: number; tokens: number },
): Value {
  const found = linear(g, x, `${name}.linear`, { from, to, bias: false });
  const flat = g.node('Reshape', [found, g.ints([-1, to])]);
  const normed = batchNorm(g, flat, `${name}.batch_norm`, { width: to });
  return g.node('Reshape', [normed, g.ints([-1, tokens, to])]);
}

/** float32 [rows, tokens, from] -> [rows, tokens that go on, to] */
export function levitAttention(g: GraphWriter, x: Value, of: LevitAttention): Value {
  const { name, from, to, edge, keys, ratio, heads, stride } = of;
  const tokens = edge ** 2;
  const after = (stride === undefined ? edge : Math.floor((edge - 1) / stride) + 1) ** 2;
  const values = keys * ratio;
  /** Parts of each head side by side -> all heads of each part side by side. */
  const parted = (found: Value, widths: readonly number[]) =>
    g
      .nodes('Split', [g.node('Reshape', [found, g.ints([0, 0, heads, -1])]), g.ints(widths)], {
        ...{ outputs: widths.length, attributes: { axis: 3 } },
      })
      .map((part, i) => g.node('Reshape', [part, g.ints([0, 0, heads * widths[i]!])]));
  const read = (part: string, width: number) =>
    normedLinear(g, x, `${name}.${part}`, { from, to: heads * width, tokens });
  const [query, key, value] = (
    stride === undefined
      ? parted(read('queries_keys_values', 2 * keys + values), [keys, keys, values])
      : [
          normedLinear(g, everySecond(g, x, of, stride), `${name}.queries`, {
            ...{ from, to: heads * keys, tokens: after },
          }),
          ...parted(read('keys_values', keys + values), [keys, values]),
        ]
  ) as [Value, Value, Value];
  const bias = distanceBias(g, of);
  const found = attention(g, { query, key, value }, { heads, width: heads * keys, bias });
  const active = g.node('HardSwish', [found]);
  return normedLinear(g, active, `${name}.projection`, { from: heads * values, to, tokens: after });
}

/** Tokens of every `stride`-th line and column. */
function everySecond(g: GraphWriter, x: Value, { edge, from }: LevitAttention, stride: number): Value {
  const grid = g.node('Reshape', [x, g.ints([0, edge, edge, from])]);
  const both = (value: number) => g.ints([value, value]);
  const few = g.node('Slice', [grid, both(0), both(edge), g.ints([1, 2]), both(stride)]);
  return g.node('Reshape', [few, g.ints([0, -1, from])]);
}

/** What is added to scores, by the lines and columns between two tokens: float32 [1, heads, tokens that go on, tokens]. */
function distanceBias(g: GraphWriter, { name, edge, heads, stride = 1 }: LevitAttention): Value {
  const positions = g.once(`distances of ${edge} by ${stride}`, () => {
    const numbers = Array.from({ length: edge }, (_, i) => i);
    const some = numbers.filter((i) => i % stride === 0);
    const [lines, columns] = [0, 1].map((axis) => {
      const at = (given: readonly number[], own: number) =>
        g.ints(
          given,
          [0, 1, 2, 3].map((i) => (i === own ? given.length : 1)),
        );
      return g.node('Abs', [g.node('Sub', [at(some, axis), at(numbers, axis + 2)])]);
    }) as [Value, Value];
    const all = g.node('Add', [g.node('Mul', [lines, g.ints([edge])]), columns]);
    return g.node('Reshape', [all, g.ints([some.length ** 2, edge ** 2])]);
  });
  const table = g.weight(`${name}.attention_biases`, [heads, edge ** 2]);
  return g.node('Unsqueeze', [g.node('Gather', [table, positions], { axis: 1 }), g.ints([0])]);
}
