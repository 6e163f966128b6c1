import { createStopStringFilter, type StopStringFilter } from './stop-string-filter.js';

/** Turns tokens into text as they come. */
export interface TextStream {
  /** Takes one token; returns the text that has become certain (often empty). */
  push(id: number): string;
  /** The rest, once no more tokens come. */
  finish(): string;
  /** True once a stop string has appeared: nothing more will come out. */
  readonly stopped: boolean;
  /** Which one, by its index; undefined before. */
  readonly stoppedBy: number | undefined;
  /** Another stream that has seen the same tokens. */
  fork(): TextStream;
}

export interface TextStreamInput {
  /** Text of tokens, as the whole answer will be decoded. */
  decode(ids: readonly number[]): string;
  /** How many tokens at the end are bytes of an open run (TextTokenizer.openBytes). */
  openBytes(ids: readonly number[]): number;
  /** True when decoding joins punctuation to the word before it. */
  cleanUp: boolean;
  prompt: readonly number[];
  stops: readonly string[];
}

/** Tokens that are decoded again with each new token; the window moves along longer texts. */
const WINDOW = 48;
/** Tokens before the window that give the decoder its left context. */
const CONTEXT = 8;

/** What a stream has seen. Arrays are replaced, never changed. */
interface State {
  /** Tokens whose text is out. */
  context: readonly number[];
  contextText: string;
  /** Tokens since. */
  pending: readonly number[];
  /** Length of the text of `pending` that is out. */
  emitted: number;
  stopped: boolean;
  stopFilter: StopStringFilter;
}

/**
 * Decodes token by token such that the pieces add up to what decoding everything at once gives. Held back: an
 * incomplete character, a run of bytes, a blank that clean-up may still remove, and the beginning of a stop string.
 */
export function createTextStream(input: TextStreamInput): TextStream {
  const context = leftContext(input, input.prompt);
  const contextText = input.decode(context);
  const stopFilter = createStopStringFilter(input.stops);
  return streamOf(input, { context, contextText, pending: [], emitted: 0, stopped: false, stopFilter });
}

function streamOf(input: TextStreamInput, state: State): TextStream {
  const { decode, cleanUp } = input;

  const textOf = (ids: readonly number[]): string =>
    after(decode([...state.context, ...ids]), state.contextText);

  /** Drops old tokens from the window once all of their text is out. */
  const moveWindow = (text: string): void => {
    if (state.pending.length < WINDOW || state.emitted < text.length) return;
    state.context = leftContext(input, [...state.context, ...state.pending]);
    state.contextText = decode(state.context);
    state.pending = [];
    state.emitted = 0;
  };

  const emit = (text: string, end: number): string => {
    const piece = state.stopFilter.push(text.slice(state.emitted, end));
    state.emitted = Math.max(state.emitted, end);
    state.stopped = state.stopFilter.stopped;
    return piece;
  };

  return {
    get stopped() {
      return state.stopped;
    },
    get stoppedBy() {
      return state.stopFilter.stoppedBy;
    },
    push(id) {
      if (state.stopped) return '';
      state.pending = [...state.pending, id];
      const open = input.openBytes(state.pending);
      const text = textOf(state.pending.slice(0, state.pending.length - open));
      const piece = emit(text, text.length - uncertainLength(text, cleanUp));
      if (open === 0) moveWindow(text);
      return piece;
    },
    finish() {
      if (state.stopped) return '';
      const text = textOf(state.pending);
      return emit(text, text.length) + state.stopFilter.flush();
    },
    fork: () => streamOf(input, { ...state, stopFilter: state.stopFilter.fork() }),
  };
}

/**
 * What comes after the context. New bytes may change how the context ends; then as many characters are left out as it
 * had, as Python's pipeline counts them.
 */
function after(text: string, context: string): string {
  if (text.startsWith(context)) return text.slice(context.length);
  return Array.from(text).slice(Array.from(context).length).join('');
}

/** The last few tokens, but enough of them to hold visible text (some decoders strip the blank of a first word). */
function leftContext({ decode, openBytes }: TextStreamInput, ids: readonly number[]): number[] {
  for (let count = CONTEXT; count < ids.length; count *= 2) {
    const tail = ids.slice(-count);
    if (openBytes(tail) < count && decode(tail).trim() !== '') return tail;
  }
  return [...ids];
}

/** UTF-16 units at the end that may still change when more tokens come. */
function uncertainLength(text: string, cleanUp: boolean): number {
  const broken = /\uFFFD+$/.exec(text)?.[0].length ?? 0;
  if (!cleanUp) return broken;
  // Clean-up removes the blank before . , ! ? and the English contractions, and first those around a lone apostrophe.
  const blank = / (?:n? ?'?|'[vr])$|'$/.exec(text.slice(0, text.length - broken))?.[0].length ?? 0;
  return broken + blank;
}
