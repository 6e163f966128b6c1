import type { GraphWriter, Value } from '../../writer/graph-writer.js';

export interface RelativeKey {
  heads: number;
  /** Of a head. */
  width: number;
  /** Longest text, in tokens. */
  rows: number;
  /** int64 [tokens, tokens], of the key from the query. */
  distance: Value;
  /** True where keys are compared with the distances, too. */
  withKey: boolean;
}

/**
 * BERT's relative positions: what vectors of distances add to the scores, float32 [rows, heads, tokens, tokens].
 * Attention divides scores by sqrt(width) before it adds a bias, so this one is divided, too.
 */
export function relativeKeyBias(
  g: GraphWriter,
  { query, key }: { query: Value; key: Value },
  name: string,
  { heads, width, rows, distance, withKey }: RelativeKey,
): Value {
  const table = g.weight(name, [2 * rows - 1, width]);
  // The table begins with the key that is farthest behind.
  const lines = g.node('Sub', [g.ints([rows - 1], []), distance]);
  const vectors = g.node('Gather', [table, lines]);
  const compared = (x: Value, equation: string) => {
    const split = g.node('Reshape', [x, g.ints([0, 0, heads, width])]);
    return g.node('Einsum', [split, vectors], { equation });
  };
  const byQuery = compared(query, 'blhd,lrd->bhlr');
  const sum = withKey ? g.node('Add', [byQuery, compared(key, 'brhd,lrd->bhlr')]) : byQuery;
  return g.node('Mul', [sum, g.scalar(width ** -0.5)]);
}
