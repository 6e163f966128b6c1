import { isPlace, type Layout, specialCount } from './layout.js';
import { keptLengths, type Truncation, windowsOf } from './truncation.js';

/** Tokens of one text, with nothing around them. */
export interface Tokens {
  ids: number[];
}

/** What a model reads. */
export interface Encoded {
  ids: number[];
  /** Segment of each token: 0, or what the post-processor says. */
  typeIds: number[];
}

/** One text, or two that belong together. */
export type Texts<T> = readonly [T] | readonly [T, T];

export interface RowOptions {
  /** Longest row in tokens, special tokens included; absent: no limit. */
  maxLength?: number | undefined;
  /** Which text is cut when both don't fit. */
  truncation?: Truncation | undefined;
}

interface RowSettings extends RowOptions {
  layout: Layout;
  /** Texts are cut at their beginning. */
  left: boolean;
}

/** The row of one or two texts: cut to what fits beside the special tokens, which are kept. */
export function rowOf(texts: Texts<Tokens>, settings: RowSettings): Encoded {
  const { layout, left, maxLength = Infinity, truncation = 'longest_first' } = settings;
  const room = maxLength - specialCount(layout);
  const kept = keptLengths([texts[0].ids.length, texts[1]?.ids.length], room, truncation);
  const row: Encoded = { ids: [], typeIds: [] };
  for (const item of layout) {
    if (!isPlace(item)) put(row, [item.id], item.type);
    else {
      const { ids } = texts[item.sequence]!;
      const [start, end] = windowsOf(ids.length, { size: kept[item.sequence]!, left })[0]!;
      put(row, ids.slice(start, end), item.type);
    }
  }
  return row;
}

function put(row: Encoded, ids: readonly number[], type: number): void {
  for (const id of ids) {
    row.ids.push(id);
    row.typeIds.push(type);
  }
}
