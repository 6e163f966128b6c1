import { embedding } from '../../layers/linear.js';
import { layerNorm } from '../../layers/norm.js';
import { placesOf, type TextInputs } from '../../layers/text-inputs.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import type { Name } from './bert-layer.js';

export interface EmbeddingSize {
  width: number;
  epsilon: number;
  /** Rows of the tables: of tokens, of their kinds where there are any, of places where those are learned. */
  vocabulary: number;
  kinds?: number | undefined;
  places?: number | undefined;
}

export interface EmbeddedInputs extends Pick<TextInputs, 'ids' | 'types'> {
  /** Places of tokens, int64 [rows, tokens]; counted from 0 if absent. */
  at?: Value;
}

/**
 * LayerNorm of the vectors of tokens, of their kinds and of their places: float32 [rows, tokens, width].
 * @param nameOf name of a part of the embeddings
 */
export function bertEmbeddings(
  g: GraphWriter,
  { ids, types, at: row }: EmbeddedInputs,
  nameOf: Name,
  { width, epsilon, vocabulary, kinds, places }: EmbeddingSize,
): Value {
  const table = (of: Value, name: string, rows: number) => embedding(g, of, nameOf(name), { rows, width });
  let sum = table(ids, 'word_embeddings', vocabulary);
  if (kinds !== undefined) sum = g.node('Add', [sum, table(types, 'token_type_embeddings', kinds)]);
  if (places !== undefined) {
    const counted = row ?? g.node('Unsqueeze', [placesOf(g, ids), g.ints([0])]);
    sum = g.node('Add', [sum, table(counted, 'position_embeddings', places)]);
  }
  return layerNorm(g, sum, nameOf('LayerNorm'), { width, epsilon });
}
