/**
 * How a model writes calls, as its template or its family says: plain data, which can be shown. Markers are texts as templates write
 * them; `starts` begin calls, `ends` may follow them, `drops` are no content wherever they stand.
 */
export type ToolFormat = { drops?: readonly string[] } & (
  | JsonFormat
  | TaggedJsonFormat
  | TaggedArgumentsFormat
  | PythonicFormat
  | GemmaFormat
  | { kind: 'harmony' }
  | { kind: 'recipient'; start: string }
  | { kind: 'generic' }
);

/** An object that holds name and arguments, or an array of them. */
export interface JsonFormat {
  kind: 'json';
  starts: readonly string[];
  ends: readonly string[];
  name: string;
  arguments: string;
  /** True: the answer may also begin with one, without a marker. */
  bare?: boolean;
}

/** A name, then the arguments as JSON. */
export interface TaggedJsonFormat {
  kind: 'tagged-json';
  starts: readonly string[];
  /** What stands between name and arguments; behind another one than the last comes an id, up to the last. */
  nameEnds: readonly string[];
  ends: readonly string[];
}

/** A name, then each argument by itself, whose type only the tool's schema knows. */
export interface TaggedArgumentsFormat {
  kind: 'tagged-arguments';
  starts: readonly string[];
  nameEnd: string;
  argumentStart: string;
  keyEnd: string;
  valueEnd: string;
  ends: readonly string[];
}

/** Calls as Python writes them, in a list or one in each line. */
export interface PythonicFormat {
  kind: 'pythonic';
  starts: readonly string[];
  ends: readonly string[];
  bare?: boolean;
}

/** `call:NAME{key:value,…}` with texts between marks of their own. */
export interface GemmaFormat {
  kind: 'gemma';
  starts: readonly string[];
  quote: string;
  ends: readonly string[];
}

/** Tags around what a model thinks. */
export interface ReasoningFormat {
  start: string;
  end: string;
}
