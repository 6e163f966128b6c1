import type { OffsetEncoding } from '../../tokenizers/tokenizer.js';

/** A stretch of tokens, both ends included. */
interface TokenSpan {
  from: number;
  to: number;
}

/** Code points of the context that a stretch of tokens covers; widened to whole words where that can be told. */
export function characterSpan(
  row: OffsetEncoding,
  { from, to }: TokenSpan,
  { wholeWords, sequence }: { wholeWords: boolean; sequence: 0 | 1 },
): [number, number] {
  const first = wholeWords ? tokensOfWord(row, from, sequence) : undefined;
  const last = wholeWords ? tokensOfWord(row, to, sequence) : undefined;
  if (first && last) return [row.starts[first.from]!, row.ends[last.to]!];
  return [row.starts[from]!, row.ends[to]!];
}

/** Tokens of the context that have the word number of a token, which Python looks up without minding its text. */
function tokensOfWord(
  { words, sequences }: OffsetEncoding,
  token: number,
  sequence: 0 | 1,
): TokenSpan | undefined {
  const word = words[token];
  if (word === undefined) return undefined;
  const isPart = (i: number) => words[i] === word && sequences[i] === sequence;
  let from = isPart(token) ? token : words.findIndex((_, i) => isPart(i));
  if (from < 0) return undefined;
  let to = from;
  while (isPart(from - 1)) from--;
  while (isPart(to + 1)) to++;
  return { from, to };
}
