import { type GgufVocabulary, KIND } from './vocabulary.js';

const BEGINNING = '\u2581';

/** vocab.txt: words begin with a mark there, and endings have none. */
export function wordPieces({ tokens, kinds }: GgufVocabulary): string {
  const lines = tokens.map((token, id) => {
    if (token.startsWith(BEGINNING)) return token.slice(1);
    const isSpecial = kinds[id] !== KIND.normal || /^\[.*\]$/.test(token);
    return isSpecial ? token : `##${token}`;
  });
  return `${lines.join('\n')}\n`;
}

/** True where no word has a capital letter. */
export const isLowerCase = ({ tokens, kinds }: GgufVocabulary): boolean =>
  !tokens.some((token, id) => kinds[id] === KIND.normal && !/^\[.*\]$/.test(token) && /\p{Lu}/u.test(token));
