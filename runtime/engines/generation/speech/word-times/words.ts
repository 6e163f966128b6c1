/** A word of a text, and the positions of its tokens. */
export interface WordOfTokens {
  text: string;
  positions: number[];
}

export interface WordRules {
  decode(tokens: readonly number[]): string;
  /** The token that ends a text: those from it on are words of their own. */
  end: number;
}

/** Languages that set no spaces between words, where each sign is one. */
const WITHOUT_SPACES: ReadonlySet<string> = new Set(['zh', 'ja', 'th', 'lo', 'my', 'yue']);

/** What belongs to the word behind it, and to that before it. */
const [PREPENDED, APPENDED] = ['"\'“¡¿([{-', '"\'.。,，!！?？:：”)]}、'];
const PUNCTUATION = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';
const BROKEN = '\ufffd';

/**
 * Puts tokens together to words (transformers' _combine_tokens_into_words).
 * @param language code of the language that they are in; one with spaces if absent
 */
export function wordsOf(
  tokens: readonly number[],
  language: string | undefined,
  rules: WordRules,
): WordOfTokens[] {
  const signs = signsOf(tokens, rules);
  const isSpaced = language === undefined || !WITHOUT_SPACES.has(language);
  const words = isSpaced ? joinedBySpaces(signs, tokens, rules) : signs;
  prependPunctuation(words);
  appendPunctuation(words);
  return words.filter(({ text }) => text !== '');
}

/** The shortest runs of tokens that are whole characters (_split_tokens_on_unicode). */
function signsOf(tokens: readonly number[], { decode }: WordRules): WordOfTokens[] {
  const whole = decode(tokens);
  const signs: WordOfTokens[] = [];
  let [from, offset] = [0, 0];
  for (let i = 0; i < tokens.length; i++) {
    const text = decode(tokens.slice(from, i + 1));
    const broken = text.indexOf(BROKEN);
    // A character that is broken in the whole text, too, does not become whole; nor does one beyond its end, as of 5.24.
    if (broken >= 0 && (whole[offset + broken] ?? BROKEN) !== BROKEN) continue;
    signs.push({ text, positions: Array.from({ length: i + 1 - from }, (_, k) => from + k) });
    offset += text.length;
    from = i + 1;
  }
  return signs;
}

/** A blank, punctuation or a token beyond the text's begins a word (_split_tokens_on_spaces). */
function joinedBySpaces(
  signs: readonly WordOfTokens[],
  tokens: readonly number[],
  { end }: WordRules,
): WordOfTokens[] {
  const words: WordOfTokens[] = [];
  for (const { text, positions } of signs) {
    const last = words.at(-1);
    const begins =
      !last || tokens[positions[0]!]! >= end || text.startsWith(' ') || PUNCTUATION.includes(text.trim());
    if (begins) words.push({ text, positions });
    else words[words.length - 1] = joined(last, { text, positions });
  }
  return words;
}

const joined = (left: WordOfTokens, right: WordOfTokens): WordOfTokens => ({
  text: left.text + right.text,
  positions: [...left.positions, ...right.positions],
});

const none = (): WordOfTokens => ({ text: '', positions: [] });

/** Opening marks go to the word behind them. */
function prependPunctuation(words: WordOfTokens[]): void {
  for (let i = words.length - 2, next = words.length - 1; i >= 0; i--) {
    const { text } = words[i]!;
    if (text.startsWith(' ') && PREPENDED.includes(text.trim())) {
      words[next] = joined(words[i]!, words[next]!);
      words[i] = none();
    } else next = i;
  }
}

/** Closing marks go to the word before them. */
function appendPunctuation(words: WordOfTokens[]): void {
  for (let i = 0, next = 1; next < words.length; next++) {
    if (!words[i]!.text.endsWith(' ') && APPENDED.includes(words[next]!.text)) {
      words[i] = joined(words[i]!, words[next]!);
      words[next] = none();
    } else i = next;
  }
}
