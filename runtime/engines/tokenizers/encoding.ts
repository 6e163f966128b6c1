import {
  isSequenceSlot,
  type EncodingTemplate,
  type SequenceSlot,
  specialCount,
} from './encoding-template.js';
import type { TokenizedText } from './tokenize.js';
import { keptLengths, type TextLengths, type Truncation, windowsOf } from './truncation.js';
import { trimOffsets, type OffsetTrim } from './trim-offsets.js';

/** What a model reads. */
export interface Encoding {
  ids: number[];
  /** Segment of each token: 0, or what the post-processor says. */
  typeIds: number[];
  /** 1 for each token, 0 for padding; absent: there is no padding. */
  mask?: number[];
}

/** A row whose tokens know where they come from; one entry for each in every list. */
export interface OffsetEncoding extends Encoding {
  /** Which text a token is of; undefined: the post-processor put it there. */
  sequences: (0 | 1 | undefined)[];
  /** Code points [start, end) of that text; 0 and 0 for what the post-processor put there. */
  starts: number[];
  ends: number[];
  /** Which word of that text. */
  words: (number | undefined)[];
}

/** One text, or two that belong together. */
export type TextOrPair<T> = readonly [T] | readonly [T, T];

export interface EncodingOptions {
  /** Longest row in tokens, special tokens included; absent: no limit. */
  maxLength?: number | undefined;
  /** Which text is cut when both don't fit. */
  truncation?: Truncation | undefined;
}

export interface WindowOptions extends EncodingOptions {
  /** Tokens that a row repeats of the one before; absent: what doesn't fit into the first row is left out. */
  stride?: number | undefined;
}

interface RowSettings extends EncodingOptions {
  layout: EncodingTemplate;
  /** Texts are cut at their beginning. */
  left: boolean;
}

/** The row of one or two texts: cut to what fits beside the special tokens, which are kept. */
export function createEncoding(texts: TextOrPair<TokenizedText>, settings: RowSettings): Encoding {
  const kept = lengthsOf(texts, settings);
  const row: Encoding = { ids: [], typeIds: [] };
  for (const item of settings.layout) {
    if (!isSequenceSlot(item)) put(row, item.type, [item.id]);
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
export function* createOffsetEncodings(
  texts: TextOrPair<TokenizedText>,
  settings: RowSettings & WindowOptions & { trims: readonly OffsetTrim[] },
): Generator<OffsetEncoding> {
  const kept = lengthsOf(texts, settings);
  const windows = texts.map(({ ids }, i) => windowsOf(ids.length, { ...settings, size: kept[i]! }));
  const count = Math.max(...windows.map((list) => list.length));
  for (let number = 0; number < count; number++) {
    const row: OffsetEncoding = { ids: [], typeIds: [], sequences: [], starts: [], ends: [], words: [] };
    for (const item of settings.layout) {
      if (!isSequenceSlot(item)) {
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

function lengthsOf(texts: TextOrPair<TokenizedText>, settings: RowSettings): TextLengths {
  const { layout, maxLength = Infinity, truncation = 'longest_first' } = settings;
  return keptLengths(
    [texts[0].ids.length, texts[1]?.ids.length],
    maxLength - specialCount(layout),
    truncation,
  );
}

function put(row: Encoding, type: number, ids: readonly number[]): void {
  for (const id of ids) {
    row.ids.push(id);
    row.typeIds.push(type);
  }
}

interface Window {
  tokens: TokenizedText;
  window: [number, number];
  trims: readonly OffsetTrim[];
}

function putWindow(
  row: OffsetEncoding,
  { sequence, type }: SequenceSlot,
  { tokens, window, trims }: Window,
): void {
  const { starts, ends, looks, words } = tokens.traces!;
  const cut = <T>(list: readonly T[]) => list.slice(...window);
  const origins = { starts: cut(starts), ends: cut(ends), looks: cut(looks) };
  const offsets = trims.reduce(trimOffsets, origins);
  put(row, type, cut(tokens.ids));
  putOrigins(row, offsets.starts, offsets.ends);
  for (const [i, word] of cut(words).entries()) {
    const at = row.ids.length - offsets.starts.length + i;
    row.words[at] = word;
    row.sequences[at] = sequence;
  }
}

function putOrigins(row: OffsetEncoding, starts: readonly number[], ends: readonly number[]): void {
  for (const [i, start] of starts.entries()) {
    row.starts.push(start);
    row.ends.push(ends[i]!);
    row.words.push(undefined);
    row.sequences.push(undefined);
  }
}
