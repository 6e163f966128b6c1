/** Characters that a terminal obeys or hides: controls, directions of writing, line separators. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A text on one line of a terminal, whoever wrote it: what a terminal would obey is shown as `\u{1b}`. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);
}
