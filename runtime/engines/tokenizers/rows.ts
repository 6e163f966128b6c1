import { isPlace, type Layout, type Place, specialCount } from './layout.js';
import type { Tokens } from './tokenize.js';
import { keptLengths, type Lengths, type Truncation, windowsOf } from './truncation.js';
import { trimmed, type Trim } from './trim-offsets.js';

/** What a model reads. */
export interface Encoded {
  ids: number[];
  /** Segment of each token: 0, or what the post-processor says. */
  typeIds: number[];
  /** 1 for each token, 0 for padding; absent: there is no padding. */
  mask?: number[];
}

/** A row whose tokens know where they come from; one entry for each in every list. */
export interface TracedRow extends Encoded {
  /** Which text a token is of; undefined: the post-processor put it there. */
  sequences: (0 | 1 | undefined)[];
  /** Code points [start, end) of that text; 0 and 0 for what the post-processor put there. */
  starts: number[];
  ends: number[];
  /** Which word of that text. */
  words: (number | undefined)[];
}

/** One text, or two that belong together. */
export type Texts<T> = readonly [T] | readonly [T, T];

export interface RowOptions {
  /** Longest row in tokens, special tokens included; absent: no limit. */
  maxLength?: number | undefined;
  /** Which text is cut when both don't fit. */
  truncation?: Truncation | undefined;
}

export interface WindowOptions extends RowOptions {
  /** Tokens that a row repeats of the one before; absent: what doesn't fit into the first row is left out. */
  stride?: number | undefined;
}

interface RowSettings extends RowOptions {
  layout: Layout;
  /** Texts are cut at their beginning. */
  left: boolean;
}

/** The row of one or two texts: cut to what fits beside the special tokens, which are kept. */
export function rowOf(texts: Texts<Tokens>, settings: RowSettings): Encoded {
  const kept = lengthsOf(texts, settings);
  const row: Encoded = { ids: [], typeIds: [] };
  for (const item of settings.layout) {
    if (!isPlace(item)) put(row, item.type, [item.id]);
    else {
      const { ids } = texts[item.sequence]!;
      const [start, end] = windowsOf(ids.length, { ...settings, size: kept[item.sequence]! })[0]!;
      put(row, item.type, ids.slice(start, end));
    }
  }
  return row;
}

/**
 * One row for each window over the text that doesn't fit.
 * @param texts tokens with their traces
 */
export function* tracedRows(
  texts: Texts<Tokens>,
  settings: RowSettings & WindowOptions & { trims: readonly Trim[] },
): Generator<TracedRow> {
  const kept = lengthsOf(texts, settings);
  const windows = texts.map(({ ids }, i) => windowsOf(ids.length, { ...settings, size: kept[i]! }));
  const count = Math.max(...windows.map((list) => list.length));
  for (let number = 0; number < count; number++) {
    const row: TracedRow = { ids: [], typeIds: [], sequences: [], starts: [], ends: [], words: [] };
    for (const item of settings.layout) {
      if (!isPlace(item)) {
        put(row, item.type, [item.id]);
        putOrigins(row, [0], [0]);
      } else {
        const list = windows[item.sequence]!;
        const type = number > 0 && list.length > 1 ? item.laterType : item.type;
        const window = list[number] ?? list[0]!;
        putWindow(row, { ...item, type }, { tokens: texts[item.sequence]!, window, trims: settings.trims });
      }
    }
    yield row;
  }
}

function lengthsOf(texts: Texts<Tokens>, settings: RowSettings): Lengths {
  const { layout, maxLength = Infinity, truncation = 'longest_first' } = settings;
  return keptLengths(
    [texts[0].ids.length, texts[1]?.ids.length],
    maxLength - specialCount(layout),
    truncation,
  );
}

function put(row: Encoded, type: number, ids: readonly number[]): void {
  for (const id of ids) {
    row.ids.push(id);
    row.typeIds.push(type);
  }
}

interface Window {
  tokens: Tokens;
  window: [number, number];
  trims: readonly Trim[];
}

function putWindow(row: TracedRow, { sequence, type }: Place, { tokens, window, trims }: Window): void {
  const { starts, ends, looks, words } = tokens.traces!;
  const cut = <T>(list: readonly T[]) => list.slice(...window);
  const origins = { starts: cut(starts), ends: cut(ends), looks: cut(looks) };
  const offsets = trims.reduce(trimmed, origins);
  put(row, type, cut(tokens.ids));
  putOrigins(row, offsets.starts, offsets.ends);
  for (const [i, word] of cut(words).entries()) {
    const at = row.ids.length - offsets.starts.length + i;
    row.words[at] = word;
    row.sequences[at] = sequence;
  }
}

function putOrigins(row: TracedRow, starts: readonly number[], ends: readonly number[]): void {
  for (const [i, start] of starts.entries()) {
    row.starts.push(start);
    row.ends.push(ends[i]!);
    row.words.push(undefined);
    row.sequences.push(undefined);
  }
}
