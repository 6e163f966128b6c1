import type { Delta, ToolCall } from '../../../core/delta.js';

/** An answer as it comes to be known: pieces to tell at once, and the whole of it. */
export interface AnswerParts {
  content: string;
  reasoning: string;
  /** Those that are whole. */
  calls: ToolCall[];
}

/** Where parsers put what they find. Nothing that was told is taken back. */
export interface AnswerSink {
  text(text: string): void;
  think(text: string): void;
  /** A call begins. */
  open(name: string, id?: string): void;
  /** More JSON text of its arguments. */
  arguments(text: string): void;
  /** The call is whole. */
  close(): void;
  /** The call that is open turns out to be none; what was told of it stays told. */
  abandon(): void;
  /** Whether no more calls are wanted. */
  readonly full: boolean;
}

export interface AnswerOptions {
  /** Makes an id for a call that has none. */
  newId(): string;
  /** False: the first call is the last. */
  parallel: boolean;
}

const BLANKS_AT_START = /^[ \t\r\n]+/;
const BLANKS: ReadonlySet<string | undefined> = new Set([' ', '\t', '\r', '\n']);

/** Text whose blanks at its edges wait until it is known whether something follows. */
class Trimmed {
  text = '';
  #waiting = '';

  /** @returns what is certain now */
  add(text: string, dropsFirst: boolean): string {
    const given = this.text === '' && dropsFirst ? text.replace(BLANKS_AT_START, '') : text;
    let end = given.length;
    while (BLANKS.has(given[end - 1])) end--;
    if (end === 0) {
      this.#waiting += given;
      return '';
    }
    const sure = this.#waiting + given.slice(0, end);
    this.#waiting = given.slice(end);
    this.text += sure;
    return sure;
  }

  /** @returns the blanks at the end */
  flush(): string {
    const rest = this.#waiting;
    this.#waiting = '';
    this.text += rest;
    return rest;
  }
}

/** Collects the parts of one answer. */
export class Answer implements AnswerSink {
  readonly #content = new Trimmed();
  readonly #reasoning = new Trimmed();
  readonly #calls: ToolCall[] = [];
  readonly #options: AnswerOptions;
  #open: ToolCall | undefined;
  /** How many calls were begun. */
  #begun = 0;
  #deltas: Delta[] = [];

  constructor(options: AnswerOptions) {
    this.#options = options;
  }

  get full(): boolean {
    return !this.#options.parallel && this.#calls.length > 0;
  }

  /** Pieces since the last time. */
  take(): Delta[] {
    const taken = this.#deltas;
    this.#deltas = [];
    return taken;
  }

  text(text: string): void {
    // Blanks between reasoning or calls and the content belong to neither.
    const sure = this.#content.add(text, this.#reasoning.text !== '' || this.#begun > 0);
    if (sure !== '') this.#deltas.push({ text: sure });
  }

  think(text: string): void {
    const sure = this.#reasoning.add(text, true);
    if (sure !== '') this.#deltas.push({ reasoning: sure });
  }

  open(name: string, id = this.#options.newId()): void {
    this.#open = { id, type: 'function', function: { name, arguments: '' } };
    this.#deltas.push({ call: { index: this.#begun++, id, name } });
  }

  arguments(text: string): void {
    if (!this.#open || text === '') return;
    this.#open.function.arguments += text;
    this.#deltas.push({ call: { index: this.#begun - 1, arguments: text } });
  }

  close(): void {
    if (this.#open) this.#calls.push(this.#open);
    this.#open = undefined;
  }

  abandon(): void {
    this.#open = undefined;
  }

  /** No more comes. */
  finish(): AnswerParts {
    // Blanks before a call belong to the call.
    const rest = this.#begun === 0 ? this.#content.flush() : '';
    if (rest !== '') this.#deltas.push({ text: rest });
    return { content: this.#content.text, reasoning: this.#reasoning.text, calls: this.#calls };
  }
}
