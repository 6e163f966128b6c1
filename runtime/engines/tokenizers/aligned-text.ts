/** Where the UTF-16 units of a rewritten text came from: stretches [start, end) of units of the given text. */
export interface OriginOffsets {
  starts: Int32Array;
  ends: Int32Array;
}

/** A text on its way through normalizer and pre-tokenizer. */
export interface AlignedText {
  text: string;
  /** Undefined where nobody asks for offsets: then only the text is computed. */
  origins: OriginOffsets | undefined;
  /** Index of the text's first unit in `origins`. */
  at: number;
}

/** A text before anything is done to it. */
export function alignText(text: string, wanted: boolean): AlignedText {
  if (!wanted) return { text, origins: undefined, at: 0 };
  const starts = Int32Array.from({ length: text.length }, (_, i) => i);
  const ends = starts.map((i) => i + 1);
  for (const { index } of text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)) {
    starts[index + 1] = index;
    ends[index] = index + 2;
  }
  return { text, origins: { starts, ends }, at: 0 };
}

/** The units [start, end) of a text. */
export function sliceAligned({ text, origins, at }: AlignedText, start: number, end: number): AlignedText {
  return { text: text.slice(start, end), origins, at: at + start };
}

/** Where the units [start, end) came from; they are at least one. */
export function originSpan({ origins, at }: AlignedText, start: number, end: number): [number, number] {
  return [origins!.starts[at + start]!, origins!.ends[at + end - 1]!];
}

/**
 * Replaces what the global pattern finds. All units of a replacement come from the last character that it replaces,
 * as in the Rust library.
 */
export function rewrite(value: AlignedText, pattern: RegExp, fill: (match: string) => string): AlignedText {
  if (!value.origins) return { ...value, text: value.text.replace(pattern, fill) };
  const out = writer(value);
  let done = 0;
  for (const { index, 0: match } of value.text.matchAll(pattern)) {
    out.copy(done, index);
    done = index + match.length;
    out.put(fill(match), done - 1);
  }
  out.copy(done, value.text.length);
  return out.finish();
}

/** Puts a text before another, which must not be empty; it comes from the first character there. */
export function prepend(value: AlignedText, prefix: string): AlignedText {
  if (!value.origins) return { ...value, text: prefix + value.text };
  const out = writer(value);
  out.put(prefix, 0);
  out.copy(0, value.text.length);
  return out.finish();
}

/**
 * A new character and what it does to the old ones: 0 takes the place of one, 1 is new and shares the origin of the
 * character before, -n takes the place of one and drops the n that follow.
 */
export type Change = readonly [char: string, change: number];

/** Rewrites a whole text by such changes. */
export function transform(value: AlignedText, changes: Iterable<Change>): AlignedText {
  const out = writer(value);
  let next = 0;
  for (const [char, change] of changes) {
    out.put(char, change > 0 ? next - 1 : next);
    for (let taken = change; taken <= 0; taken++) next += charLength(value.text, next);
  }
  return out.finish();
}

function charLength(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

/** Collects a text and its origins. */
function writer({ text, origins, at }: AlignedText) {
  const [starts, ends]: [number[], number[]] = [[], []];
  const pieces: string[] = [];
  return {
    /** The old units [start, end) as they were. */
    copy(start: number, end: number) {
      pieces.push(text.slice(start, end));
      for (let i = at + start; i < at + end; i++) {
        starts.push(origins!.starts[i]!);
        ends.push(origins!.ends[i]!);
      }
    },
    /** New text that comes from the old unit `from`, or from before the first one. */
    put(piece: string, from: number) {
      const unit = Math.min(Math.max(from, 0), text.length - 1);
      const start = origins!.starts[at + unit] ?? 0;
      const end = from < 0 ? start : (origins!.ends[at + unit] ?? start);
      pieces.push(piece);
      for (let i = 0; i < piece.length; i++) {
        starts.push(start);
        ends.push(end);
      }
    },
    finish: (): AlignedText => ({
      text: pieces.join(''),
      origins: { starts: Int32Array.from(starts), ends: Int32Array.from(ends) },
      at: 0,
    }),
  };
}
