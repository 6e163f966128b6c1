/** Takes a token of a word and the UTF-16 units [start, end) of the word that it stands for. */
export type EmitToken = (id: number, start: number, end: number) => void;

/** Cuts one word; its tokens come in order. */
export type CutWord = (word: string, emit: EmitToken) => void;

/** Longer words are rare, and would make the cache's size unknown. */
const LONGEST = 24;
/** Words that are remembered at most; then all are forgotten, and the usual ones are soon back. */
const MOST = 20_000;

/** Remembers how words were cut: the usual words of a language come again and again. */
export function withWordCache(cut: CutWord): CutWord {
  const known = new Map<string, readonly [id: number, start: number, end: number][]>();
  return (word, take) => {
    if (word.length > LONGEST) return cut(word, take);
    let tokens = known.get(word);
    if (!tokens) {
      const found: [number, number, number][] = [];
      cut(word, (id, start, end) => void found.push([id, start, end]));
      if (known.size === MOST) known.clear();
      known.set(word, (tokens = found));
    }
    for (const [id, start, end] of tokens) take(id, start, end);
  };
}
