import type { Json } from '../repository/model-folder.js';
import { cleanUp } from './clean-up.js';
import { BYTE_TOKEN, createDecoder } from './decoders.js';
import { OPEN } from './marked-pieces.js';
import type { TokenModel } from './token-model.js';
import type { TokenizerJson } from './tokenizer-json.js';

export interface DecodeOptions {
  /** Joins punctuation to the word before it; default: `clean_up_tokenization_spaces` of the repository. */
  cleanUp?: boolean | undefined;
  /** Default true. */
  skipSpecialTokens?: boolean | undefined;
}

/** From tokens back to text. */
export interface Detokenizer {
  /** Text of the ids. */
  decode(ids: readonly number[], options?: DecodeOptions): string;
  /** Text of a token that `decode` skips. */
  specialText(id: number): string | undefined;
  /** Texts of all tokens that `decode` skips. */
  readonly specialTexts: readonly string[];
  /** Text of tokens as they are written in the vocabulary (convert_tokens_to_string). */
  join(tokens: string[]): string;
  /**
   * How many tokens at the end are bytes, or pieces of a word, of a run that is still open: what they stand for is certain only
   * when the run ends. 0 for tokenizers without such tokens.
   */
  openBytes(ids: readonly number[]): number;
}

/** @throws RunError `not_ready` for a decoder that we can't compute */
export function createDetokenizer(json: TokenizerJson, model: TokenModel, config: Json): Detokenizer {
  const added = new Map(json.added_tokens.map((token) => [token.id, token]));
  const decoder = createDecoder(json.decoder);
  const join = (tokens: string[]) => decoder(tokens).join('');
  const isByte = byteTest(json, model);
  const cleansUp = config['clean_up_tokenization_spaces'] === true;
  return {
    join,
    specialTexts: json.added_tokens.filter(({ special }) => special).map(({ content }) => content),
    specialText(id) {
      const token = added.get(id);
      return token?.special === true ? token.content : undefined;
    },
    decode(ids, options = {}) {
      const kept: string[] = [];
      for (const id of ids) {
        const token = added.get(id);
        const content = token?.content ?? model.tokens.get(id);
        const skipped = token?.special === true && options.skipSpecialTokens !== false;
        if (content !== undefined && !skipped) kept.push(content);
      }
      return (options.cleanUp ?? cleansUp) ? cleanUp(join(kept)) : join(kept);
    },
    openBytes(ids) {
      // Special tokens leave no text, so a run goes on across them.
      const ends = (id: number) => !isByte(id) && added.get(id)?.special !== true;
      const run = ids.slice(ids.findLastIndex(ends) + 1);
      return run.some(isByte) ? run.length : 0;
    },
  };
}

/** Whether a token is a byte for the decoder `ByteFallback`, or a piece that ends no word for `MarkedPieces`. */
function byteTest(json: TokenizerJson, { tokens }: TokenModel): (id: number) => boolean {
  if (json.decoder?.type === 'MarkedPieces') return (id) => tokens.get(id)?.endsWith(OPEN) === true;
  if (!JSON.stringify(json.decoder ?? null).includes('"ByteFallback"')) return () => false;
  return (id) => BYTE_TOKEN.test(tokens.get(id) ?? '');
}
