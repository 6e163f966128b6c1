import { embedding } from '../../layers/linear.js';
import { layerNorm } from '../../layers/norm.js';
import { positionsOf, type TextInputs } from '../../layers/text-inputs.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import type { Name } from './bert-layer.js';

export interface EmbeddingSize {
  width: number;
  epsilon: number;
  /** Rows of the tables: of tokens, of their kinds where there are any, of positions where those are learned. */
  vocabulary: number;
  kinds?: number | undefined;
  positions?: number | undefined;
}

export interface EmbeddedInputs extends Pick<TextInputs, 'ids' | 'types'> {
  /** Positions of tokens, int64 [rows, tokens]; counted from 0 if absent. */
  at?: Value;
}

/**
 * LayerNorm of the vectors of tokens, of their kinds and of their positions: float32 [rows, tokens, width].
 * @param nameOf name of a part of the embeddings
 */
export function bertEmbeddings(
  g: GraphWriter,
  { ids, types, at: row }: EmbeddedInputs,
  nameOf: Name,
  { width, epsilon, vocabulary, kinds, positions }: EmbeddingSize,
): Value {
  const table = (of: Value, name: string, rows: number) => embedding(g, of, nameOf(name), { rows, width });
  let sum = table(ids, 'word_embeddings', vocabulary);
  if (kinds !== undefined) sum = g.node('Add', [sum, table(types, 'token_type_embeddings', kinds)]);
  if (positions !== undefined) {
    const counted = row ?? g.node('Unsqueeze', [positionsOf(g, ids), g.ints([0])]);
    sum = g.node('Add', [sum, table(counted, 'position_embeddings', positions)]);
  }
  return layerNorm(g, sum, nameOf('LayerNorm'), { width, epsilon });
}
