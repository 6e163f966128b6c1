import type { TextTokenizer } from '../../tokenizers/tokenizer.js';
import { SPECIAL, type TokenTable } from './llguidance/instance.js';

/**
 * Bytes of all tokens. Tokens that leave no text, that end a text, and ids without a token count as special: no grammar of
 * text allows them.
 */
export function createTokenTable(tokenizer: TextTokenizer, ends: Iterable<number>): TokenTable {
  const endIds = [...ends];
  const special = (id: number) => endIds.includes(id) || tokenizer.specialText(id) !== undefined;
  const tokens = Array.from(
    { length: Math.max(tokenizer.idLimit, ...endIds.map((id) => id + 1)) },
    (_, id) => {
      const bytes = tokenizer.tokenOf(id) === undefined || special(id) ? [] : tokenizer.bytesOf(id);
      return bytes.length > 0 ? Uint8Array.from(bytes) : Uint8Array.of(SPECIAL, ...Buffer.from(`<${id}>`));
    },
  );
  return { tokens, ends: endIds };
}
