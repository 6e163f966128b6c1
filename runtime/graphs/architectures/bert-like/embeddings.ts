import { embedding } from '../../blocks/linear.js';
import { layerNorm } from '../../blocks/norm.js';
import { placesOf, type TextInputs } from '../../blocks/text-inputs.js';
import type { GraphWriter, Value } from '../../graph-writer.js';
import type { Name } from './bert-like.js';

export interface EmbeddingSize {
  width: number;
  epsilon: number;
  /** Rows of the tables: of tokens, of their kinds where there are any, of places where those are learned. */
  vocabulary: number;
  kinds?: number | undefined;
  places?: number | undefined;
}

/**
 * LayerNorm of the vectors of tokens, of their kinds and of their places, counted from 0: float32 [rows, tokens, width].
 * @param at name of a part of the embeddings
 */
export function bertEmbeddings(
  g: GraphWriter,
  { ids, types }: Pick<TextInputs, 'ids' | 'types'>,
  at: Name,
  { width, epsilon, vocabulary, kinds, places }: EmbeddingSize,
): Value {
  const table = (of: Value, name: string, rows: number) => embedding(g, of, at(name), { rows, width });
  let sum = table(ids, 'word_embeddings', vocabulary);
  if (kinds !== undefined) sum = g.node('Add', [sum, table(types, 'token_type_embeddings', kinds)]);
  if (places !== undefined) {
    const row = g.node('Unsqueeze', [placesOf(g, ids), g.ints([0])]);
    sum = g.node('Add', [sum, table(row, 'position_embeddings', places)]);
  }
  return layerNorm(g, sum, at('LayerNorm'), { width, epsilon });
}
