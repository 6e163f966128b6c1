import { printable } from '../../runtime/core/printable.js';

/** The last line that a program wrote, which says what was wrong; safe for a terminal. */
export const lastLine = (text: string): string =>
  printable(text.trim().split('\n').at(-1) ?? '').slice(0, 300);
