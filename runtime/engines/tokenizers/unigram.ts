/** What a character that is in no token costs more than the least likely token. */
const UNKNOWN_PENALTY = 10;

/**
 * Cuts words into the likeliest row of pieces (Viterbi over the scores of a vocabulary), as the Rust library does.
 * Characters that are in no token are pieces of their own. Made here since the JavaScript library takes 20
 * microseconds for a character, which nobody else is served in.
 * @param exact the scores were never written as text
 */
export function createUnigram(
  vocabulary: readonly (readonly [token: string, score: number])[],
  { exact = false }: { exact?: boolean } = {},
): (word: string) => string[] {
  const trie = findPrefixes(vocabulary.map(([token]) => token));
  const scores = vocabulary.map(([, score]) => (exact ? score : asSerdeReads(score)));
  const unknown = scores.reduce((least, score) => Math.min(least, score), Infinity) - UNKNOWN_PENALTY;
  return (word) => {
    const best = new Float64Array(word.length + 1);
    const from = new Int32Array(word.length + 1).fill(-1);
    const offer = (start: number, end: number, score: number) => {
      const total = best[start]! + score;
      if (from[end]! >= 0 && total <= best[end]!) return;
      best[end] = total;
      from[end] = start;
    };
    for (let start = 0; start < word.length; start += charLength(word, start)) {
      const single = start + charLength(word, start);
      let known = false;
      trie(word, start, (end, token) => {
        offer(start, end, scores[token]!);
        if (end === single) known = true;
      });
      if (!known) offer(start, single, unknown);
    }
    const pieces: string[] = [];
    for (let end = word.length; end > 0; end = from[end]!) pieces.push(word.slice(from[end], end));
    return pieces.toReversed();
  };
}

/**
 * A number as serde_json reads it: its digits by a power of ten, each rounded. That may be the neighbour of what is
 * written, and of two rows of pieces that are equally likely the rounding decides.
 */
function asSerdeReads(score: number): number {
  const [written = '', power = ''] = Math.abs(score).toExponential().split('e');
  const digits = written.replace('.', '');
  const exponent = Number(power) - digits.length + 1;
  const size = exponent < 0 ? Number(digits) / Number(`1e${-exponent}`) : Math.abs(score);
  return score < 0 ? -size : size;
}

function charLength(text: string, at: number): number {
  return text.codePointAt(at)! > 0xffff ? 2 : 1;
}

type FindPrefixes = (text: string, start: number, found: (end: number, token: number) => void) => void;

/** Finds all tokens that a text has at a place. One map holds every edge: node and UTF-16 unit to the next node. */
export function findPrefixes(tokens: readonly string[]): FindPrefixes {
  const edges = new Map<number, number>();
  const tokenAt: number[] = [-1];
  const edge = (node: number, unit: number) => node * 0x10000 + unit;
  for (const [token, text] of tokens.entries()) {
    let node = 0;
    for (let i = 0; i < text.length; i++) {
      const key = edge(node, text.charCodeAt(i));
      node = edges.get(key) ?? tokenAt.push(-1) - 1;
      edges.set(key, node);
    }
    tokenAt[node] = token;
  }
  return (text, start, found) => {
    let node: number | undefined = 0;
    for (let end = start; end < text.length;) {
      node = edges.get(edge(node, text.charCodeAt(end)));
      if (node === undefined) return;
      end++;
      if (tokenAt[node]! >= 0) found(end, tokenAt[node]!);
    }
  };
}
