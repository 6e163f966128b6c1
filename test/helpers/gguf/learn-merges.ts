import { byteLevelText } from '../../../runtime/engines/tokenizers/bytes.js';

export interface LearnedPairs {
  /** All bytes first. */
  tokens: string[];
  merges: string[];
}

/** Characters that stand for the bytes of a text. */
const lettersOf = (text: string): string[] =>
  Array.from(byteLevelText({ text, origins: undefined, at: 0 }).text);

const BYTES = Array.from({ length: 256 }, (_, byte) => byte);

/**
 * Pairs of bytes as they are learned of texts, which are not cut into words first: tokens go across all places at which any
 * tokenizer cuts, so that a cut that is missing, or one too many, gives other tokens.
 */
export function learnMerges(texts: readonly string[], count: number): LearnedPairs {
  let rows = texts.map(lettersOf);
  const tokens = alphabet();
  const merges: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const pair = commonest(rows);
    if (!pair) break;
    const [first, second] = pair;
    merges.push(`${first} ${second}`);
    tokens.push(first + second);
    rows = rows.map((row) => merged(row, first, second));
  }
  return { tokens: [...new Set(tokens)], merges };
}

/** The character of each byte. */
export function alphabet(): string[] {
  const printable = (byte: number) =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
  let next = 0x100;
  return BYTES.map((byte) => String.fromCharCode(printable(byte) ? byte : next++));
}

function commonest(rows: readonly string[][]): [string, string] | undefined {
  const counts = new Map<string, number>();
  for (const row of rows)
    for (let i = 1; i < row.length; i += 1) {
      const pair = `${row[i - 1]!} ${row[i]!}`;
      counts.set(pair, (counts.get(pair) ?? 0) + 1);
    }
  const [best] = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return best && best[1] > 1 ? (best[0].split(' ') as [string, string]) : undefined;
}

function merged(row: readonly string[], first: string, second: string): string[] {
  const found: string[] = [];
  for (let i = 0; i < row.length; i += 1) {
    const isPair = row[i] === first && row[i + 1] === second;
    found.push(isPair ? first + second : row[i]!);
    if (isPair) i += 1;
  }
  return found;
}
