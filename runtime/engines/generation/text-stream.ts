import { createStopGate } from './stop-gate.js';

/** Turns tokens into text as they come. */
export interface TextStream {
  /** Takes one token; gives the text that has become certain (often empty). */
  push(id: number): string;
  /** The rest, once no more tokens come. */
  finish(): string;
  /** True once a stop string has appeared: nothing more will come out. */
  readonly stopped: boolean;
}

export interface TextStreamInput {
  /** Text of tokens, as the whole answer will be decoded. */
  decode(ids: readonly number[]): string;
  /** How many tokens at the end are bytes of an open run (TextTokenizer.openBytes). */
  openBytes(ids: readonly number[]): number;
  /** True when decoding joins punctuation to the word before it. */
  cleansUp: boolean;
  prompt: readonly number[];
  stops: readonly string[];
}

/** Tokens that are decoded anew with each token; longer texts move the window along. */
const WINDOW = 48;
/** Tokens before the window that give the decoder its left context. */
const CONTEXT = 8;

/**
 * Decodes token by token such that the pieces add up to what decoding everything at once gives. Held back: an
 * incomplete character, a run of bytes, a blank that clean-up may still remove, and the beginning of a stop string.
 */
export function createTextStream(input: TextStreamInput): TextStream {
  const { decode, cleansUp } = input;
  let context = leftContext(input, input.prompt);
  let contextText = decode(context);
  let fresh: number[] = [];
  let emitted = 0;
  let stopped = false;
  const gate = createStopGate(input.stops);

  const decoded = (ids: readonly number[]): string => after(decode([...context, ...ids]), contextText);

  /** Drops old tokens from the window once all of their text is out. */
  const moveWindow = (text: string): void => {
    if (fresh.length < WINDOW || emitted < text.length) return;
    context = leftContext(input, [...context, ...fresh]);
    contextText = decode(context);
    fresh = [];
    emitted = 0;
  };

  const emit = (text: string, sure: number): string => {
    const piece = gate.push(text.slice(emitted, sure));
    emitted = Math.max(emitted, sure);
    stopped = gate.closed;
    return piece;
  };

  return {
    get stopped() {
      return stopped;
    },
    push(id) {
      if (stopped) return '';
      fresh.push(id);
      const open = input.openBytes(fresh);
      const text = decoded(fresh.slice(0, fresh.length - open));
      const piece = emit(text, text.length - unsure(text, cleansUp));
      if (open === 0) moveWindow(text);
      return piece;
    },
    finish() {
      if (stopped) return '';
      const text = decoded(fresh);
      return emit(text, text.length) + gate.flush();
    },
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
function unsure(text: string, cleansUp: boolean): number {
  const broken = /\uFFFD+$/.exec(text)?.[0].length ?? 0;
  if (!cleansUp) return broken;
  // Clean-up removes the blank before . , ! ? and the English contractions.
  const blank = / (?:'|n|n'|'v|'r)?$/.exec(text.slice(0, text.length - broken))?.[0].length ?? 0;
  return broken + blank;
}
