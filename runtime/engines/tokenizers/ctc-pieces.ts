import type { CtcVocabulary } from './ctc-vocabulary.js';
import { loadTokenizer } from './tokenizer.js';

/**
 * Text of pieces of words, by tokenizer.json: equal neighbours become one, then the blank goes (ParakeetTokenizer._decode).
 * @param skipSpecialTokens others than the blank stand in no text either
 */
export async function loadCtcPieces(dir: string, skipSpecialTokens = false): Promise<CtcVocabulary> {
  const tokenizer = await loadTokenizer(dir);
  const blank = tokenizer.namedId('pad_token');
  return {
    decode(ids) {
      const kept = ids.filter((id, i) => id !== ids[i - 1] && id !== blank);
      return tokenizer.decode(kept, { skipSpecialTokens });
    },
  };
}
