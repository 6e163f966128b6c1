/** Python's clean_up_tokenization, in its order: English punctuation and contractions lose the blank before them. */
const RULES: readonly (readonly [string, string])[] = [
  [' .', '.'],
  [' ?', '?'],
  [' !', '!'],
  [' ,', ','],
  [" ' ", "'"],
  [" n't", "n't"],
  [" 'm", "'m"],
  [" 's", "'s"],
  [" 've", "'ve"],
  [" 're", "'re"],
];

export function cleanUp(text: string): string {
  return RULES.reduce((value, [from, to]) => value.replaceAll(from, () => to), text);
}
