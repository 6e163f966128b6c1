import type { TextTokenizer } from '../text/tokenizer.js';

/** Turns tokens into text as they come. */
export interface TextStream {
  /** Takes one token; gives the text that has become certain (often empty). */
  push(id: number): string;
  /** The rest, once no more tokens come. */
  finish(): string;
  /** True once a stop string has appeared: nothing more will come out. */
  readonly stopped: boolean;
}

/** Tokens that are decoded anew with each token; longer texts move the window along. */
const WINDOW = 48;
/** Tokens before the window that give the decoder its left context. */
const CONTEXT = 8;

/**
 * Decodes token by token such that the pieces add up to what decoding everything at once gives. Held back: an
 * incomplete character, a blank that clean-up may still remove, and the beginning of a stop string.
 */
export function createTextStream(
  tokenizer: TextTokenizer,
  prompt: readonly number[],
  stops: string[],
): TextStream {
  let context = leftContext(tokenizer, prompt);
  let contextText = tokenizer.decode(context);
  let fresh: number[] = [];
  let emitted = 0;
  let stopped = false;
  const gate = stopGate(stops);

  const decoded = (): string => tokenizer.decode([...context, ...fresh]).slice(contextText.length);

  /** Drops old tokens from the window once all of their text is out. */
  const moveWindow = (text: string): void => {
    if (fresh.length < WINDOW || emitted < text.length) return;
    context = leftContext(tokenizer, [...context, ...fresh]);
    contextText = tokenizer.decode(context);
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
      const text = decoded();
      const piece = emit(text, text.length - unsure(text, tokenizer.cleansUp));
      moveWindow(text);
      return piece;
    },
    finish() {
      if (stopped) return '';
      const text = decoded();
      return emit(text, text.length) + gate.flush();
    },
  };
}

/** The last few tokens, but enough of them to hold visible text (some decoders strip the blank of a first word). */
function leftContext(tokenizer: TextTokenizer, ids: readonly number[]): number[] {
  for (let count = CONTEXT; count < ids.length; count *= 2) {
    const tail = ids.slice(-count);
    if (tokenizer.decode(tail).trim() !== '') return tail;
  }
  return [...ids];
}

/** UTF-16 units at the end that may still change when more tokens come. */
function unsure(text: string, cleansUp: boolean): number {
  const broken = /\uFFFD+$/.exec(text)?.[0].length ?? 0;
  if (!cleansUp) return broken;
  // clean_up_tokenization_spaces removes the blank before . , ! ? and the English contractions.
  const blank = / (?:'|n|n'|'v|'r)?$/.exec(text.slice(0, text.length - broken))?.[0].length ?? 0;
  return broken + blank;
}

interface StopGate {
  push(text: string): string;
  flush(): string;
  readonly closed: boolean;
}

/** Lets text through up to the earliest stop string; holds back an end that could be the beginning of one. */
function stopGate(stops: string[]): StopGate {
  let held = '';
  let closed = false;
  return {
    get closed() {
      return closed;
    },
    push(text) {
      held += text;
      const found = stops.map((stop) => held.indexOf(stop)).filter((at) => at >= 0);
      closed = found.length > 0;
      const sure = closed
        ? Math.min(...found)
        : held.length - Math.max(0, ...stops.map((stop) => overlap(held, stop)));
      const piece = held.slice(0, sure);
      held = closed ? '' : held.slice(sure);
      return piece;
    },
    flush() {
      const rest = held;
      held = '';
      return rest;
    },
  };
}

/** Length of the longest end of `text` that is a beginning of `stop`. */
function overlap(text: string, stop: string): number {
  for (let length = Math.min(stop.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(stop.slice(0, length))) return length;
  }
  return 0;
}
