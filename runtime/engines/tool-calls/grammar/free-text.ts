import type { ReasoningFormat } from '../formats/format.js';
import { literal, type Lark } from './lark.js';

/** Regular expressions of text: any, and none that begins as a bare call does. */
export const ANY = '(?s:.+)';
export const NO_CALL = String.raw`[ \t\r\n]*[^{\[ \t\r\n](?s:.*)`;

/** At least one character. */
export const TEXT = `/${ANY}/`;

/** Text in which these special tokens may stand, before what comes next. */
export function mixed(lark: Lark, markers: readonly string[]): string {
  const others = lark.others(markers);
  return others === undefined ? '' : `(${lark.rule(`${TEXT}? ${others}`)})*`;
}

/**
 * Text up to a marker, and the marker.
 * @returns undefined for markers that are special tokens in part only
 */
export function upTo(lark: Lark, marker: string, words = ANY): string | undefined {
  const parts = lark.parts(marker);
  const [first] = parts;
  if (typeof first === 'number') return `/${words}/? ${lark.text(marker)}`;
  return parts.length === 1 ? lark.rule(`/(${words})?${literal(marker)}/`, '[lazy]') : undefined;
}

/** What a model may think before it answers. */
export interface Thoughts {
  reasoning: ReasoningFormat;
  /** True: the prompt ends within them. */
  begun: boolean;
}

/** Thoughts, and a few blanks behind them. Without them the answer begins at once. */
export function thoughts(lark: Lark, { reasoning, begun }: Thoughts): string | undefined {
  const end = upTo(lark, reasoning.end);
  if (end === undefined) return undefined;
  const blanks = String.raw`(/[ \t\r\n]{1,4}/)?`;
  const thought = `${mixed(lark, [reasoning.start, reasoning.end])} ${end} ${blanks}`;
  return begun ? thought : `(${lark.text(reasoning.start)} ${thought})?`;
}
