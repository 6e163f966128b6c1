export const CONTRACTIONS = String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)`;

interface Pieces {
  /** Pattern of digits that stay together. */
  digits: string;
  /** Marks belong to the letters before them. */
  marks?: boolean;
}

/** What Tiktoken's vocabularies cut a text into before pairs of bytes are merged, as a pattern of tokenizer.json. */
export function tiktokenPieces({ digits, marks = false }: Pieces): string {
  const letters = marks ? String.raw`\p{L}\p{M}` : String.raw`\p{L}`;
  const word = marks ? `[${letters}]+` : `${letters}+`;
  const rest = String.raw` ?[^\s${letters}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
  return String.raw`${CONTRACTIONS}|[^\r\n\p{L}\p{N}]?${word}|${digits}|${rest}`;
}
