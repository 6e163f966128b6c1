export interface StopStringFilter {
  /** Takes more text; returns what cannot belong to a stop string. */
  push(text: string): string;
  /** The text that is held back, once no more comes. */
  flush(): string;
  /** True once a stop string has appeared. */
  readonly stopped: boolean;
  /** Which one, by its index; undefined before. */
  readonly stoppedBy: number | undefined;
  /** Another filter that has seen the same text. */
  fork(): StopStringFilter;
}

/** A stop string, and for each beginning of it the longest proper beginning that is also its end. */
interface Pattern {
  text: string;
  borders: Int32Array;
}

/**
 * Lets text through up to the first stop string that is complete; holds back an end that could be the beginning of one.
 * Each character is looked at once, whatever the stop strings are.
 */
export function createStopStringFilter(stops: readonly string[]): StopStringFilter {
  const patterns = stops.map((text) => ({ text, borders: bordersOf(text) }));
  return filterOf(patterns, { held: '', matched: stops.map(() => 0), stoppedBy: undefined });
}

interface State {
  /** Text that may belong to a stop string. */
  held: string;
  /** How much of each stop string the end of the text is. */
  matched: number[];
  stoppedBy: number | undefined;
}

function filterOf(patterns: readonly Pattern[], state: State): StopStringFilter {
  return {
    get stopped() {
      return state.stoppedBy !== undefined;
    },
    get stoppedBy() {
      return state.stoppedBy;
    },
    push(text) {
      const before = state.held.length;
      state.held += text;
      const match = firstMatch(patterns, state.matched, text);
      state.stoppedBy = match?.by;
      const sure = match ? before + match.from : state.held.length - Math.max(0, ...state.matched);
      const piece = state.held.slice(0, sure);
      state.held = match ? '' : state.held.slice(sure);
      return piece;
    },
    flush() {
      const rest = state.held;
      state.held = '';
      return rest;
    },
    fork: () => filterOf(patterns, { ...state, matched: [...state.matched] }),
  };
}

interface Match {
  /** Index of the stop string. */
  by: number;
  /** Where in the text it begins; before it: less than 0. */
  from: number;
}

/** The stop string that is complete first; the longest of equals. */
function firstMatch(patterns: readonly Pattern[], matched: number[], text: string): Match | undefined {
  for (let at = 0; at < text.length; at++) {
    let longest = 0;
    let by = 0;
    for (const [i, pattern] of patterns.entries()) {
      matched[i] = advance(pattern, matched[i]!, text.charCodeAt(at));
      if (matched[i] === pattern.text.length && pattern.text.length > longest) {
        longest = pattern.text.length;
        by = i;
      }
    }
    if (longest > 0) return { by, from: at + 1 - longest };
  }
  return undefined;
}

function advance({ text, borders }: Pattern, matched: number, unit: number): number {
  let length = matched;
  while (length > 0 && text.charCodeAt(length) !== unit) length = borders[length - 1]!;
  return text.charCodeAt(length) === unit ? length + 1 : length;
}

function bordersOf(text: string): Int32Array {
  const borders = new Int32Array(text.length);
  for (let i = 1; i < text.length; i++) {
    borders[i] = advance({ text, borders }, borders[i - 1]!, text.charCodeAt(i));
  }
  return borders;
}
