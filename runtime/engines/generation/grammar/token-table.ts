import { eachRow } from '../../../core/each-row.js';
import type { TextTokenizer } from '../../tokenizers/tokenizer.js';
import { SPECIAL, tokenTable, type TokenTable } from './llguidance/instance.js';

/** Who else asks for a format waits for the same table. */
const NEVER = new AbortController().signal;

/**
 * Bytes of all tokens. Tokens that leave no text, that end a text, and ids without a token count as special: no grammar of
 * text allows them. Made in short slices of the event loop: there may be 262,144.
 */
export async function createTokenTable(
  tokenizer: TextTokenizer,
  ends: Iterable<number>,
): Promise<TokenTable> {
  const endIds = [...ends];
  const special = (id: number) => endIds.includes(id) || tokenizer.specialText(id) !== undefined;
  const tokens: Uint8Array[] = [];
  const count = Math.max(tokenizer.idLimit, ...endIds.map((id) => id + 1));
  await eachRow(count, NEVER, (id) => {
    const bytes = tokenizer.tokenOf(id) === undefined || special(id) ? [] : tokenizer.bytesOf(id);
    tokens.push(
      bytes.length > 0 ? Uint8Array.from(bytes) : Uint8Array.of(SPECIAL, ...Buffer.from(`<${id}>`)),
    );
  });
  return tokenTable(tokens, endIds);
}
