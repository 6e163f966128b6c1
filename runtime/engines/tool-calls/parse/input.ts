/** A parser waits by yielding: it goes on once there is more text, or the text has ended. */
export type Parsing<T = void> = Generator<undefined, T, undefined>;

/** What can't be read as what it began as. */
export class Malformed extends Error {}
/** The text ended in the middle of something. */
export class Unfinished extends Error {}

export const END = -1;

/**
 * Text that comes in pieces, read character by character. Each is looked at a bounded number of times, however the text is cut into
 * pieces.
 */
export class Input {
  #text = '';
  #at = 0;
  #ended = false;
  /** Pieces that were read since `record`. */
  #recorded: string[] | undefined;
  #recordFrom = 0;

  feed(text: string): void {
    this.#keepRecord();
    this.#text = this.#text.slice(this.#at) + text;
    this.#at = 0;
    this.#recordFrom = 0;
  }

  /** No more text will come. */
  end(): void {
    this.#ended = true;
  }

  /** Begins to remember what is read, after `before`. */
  record(before = ''): void {
    this.#recorded = [before];
    this.#recordFrom = this.#at;
  }

  /** What was read since; it is remembered no longer. */
  recorded(): string {
    this.#keepRecord();
    const text = this.#recorded?.join('') ?? '';
    this.#recorded = undefined;
    return text;
  }

  #keepRecord(): void {
    if (this.#recordFrom < this.#at) this.#recorded?.push(this.#text.slice(this.#recordFrom, this.#at));
    this.#recordFrom = this.#at;
  }

  /** Waits for the next character, or the end. */
  *peek(): Parsing<number> {
    while (this.#at >= this.#text.length) {
      if (this.#ended) return END;
      yield;
    }
    return this.#text.charCodeAt(this.#at);
  }

  /** The next character. @throws Unfinished at the end */
  *need(): Parsing<string> {
    if ((yield* this.peek()) === END) throw new Unfinished();
    return this.#text[this.#at]!;
  }

  /** Reads up to the first character that stops it, or the end. @throws Malformed for more than `most` */
  *runOf(stops: RegExp, most: number): Parsing<string> {
    let text = '';
    while ((yield* this.peek()) !== END) {
      const more = this.run(stops);
      if (more === '') break;
      text += more;
      if (text.length > most) throw new Malformed();
    }
    return text;
  }

  /** Reads the next character, which has been peeked at. */
  skip(): void {
    this.#at++;
  }

  /** Reads what is there and matches, up to the first of `stops` (a pattern with flag g). */
  run(stops: RegExp): string {
    stops.lastIndex = this.#at;
    const end = stops.exec(this.#text)?.index ?? this.#text.length;
    const found = this.#text.slice(this.#at, end);
    this.#at = end;
    return found;
  }

  *skipBlanks(): Parsing {
    for (;;) {
      const unit = yield* this.peek();
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
      this.#at++;
    }
  }

  /** Reads a marker if it comes next, else nothing. */
  *accept(marker: string): Parsing<boolean> {
    for (;;) {
      const there = this.#text.slice(this.#at, this.#at + marker.length);
      if (there.length === marker.length || this.#ended || !marker.startsWith(there)) {
        if (there !== marker) return false;
        this.#at += marker.length;
        return true;
      }
      yield;
    }
  }

  /** Reads one of these markers if it comes next: the first that fits. */
  *acceptOneOf(markers: readonly string[]): Parsing<string | undefined> {
    for (const marker of markers) if (yield* this.accept(marker)) return marker;
    return undefined;
  }

  /** Whether the text has ended within one of these markers. */
  endsWithin(markers: readonly string[]): boolean {
    const rest = this.#text.slice(this.#at);
    return this.#ended && markers.some((marker) => marker.startsWith(rest));
  }

  /**
   * Reads up to the first of these markers, and the marker. `use` gets the text before it as it becomes certain.
   * @returns the marker, the longest of those that begin there; undefined at the end of the text
   */
  *until(markers: readonly string[], use: (text: string) => void): Parsing<string | undefined> {
    for (;;) {
      const found = firstOf(markers, this.#text, this.#at);
      const open = this.#ended ? Infinity : this.#openEnd(markers);
      const sure = Math.min(found?.at ?? this.#text.length, open);
      if (sure > this.#at) use(this.#text.slice(this.#at, sure));
      this.#at = sure;
      // A longer marker may begin before this one, or with it.
      if (found && open > found.at) {
        this.#at += found.marker.length;
        return found.marker;
      }
      if (this.#ended) return undefined;
      yield;
    }
  }

  /** Where an end begins that may still become a marker; behind the text if there is none. */
  #openEnd(markers: readonly string[]): number {
    const longest = Math.max(0, ...markers.map(({ length }) => length - 1));
    for (let at = Math.max(this.#at, this.#text.length - longest); at < this.#text.length; at++) {
      const tail = this.#text.slice(at);
      if (markers.some((marker) => marker.length > tail.length && marker.startsWith(tail))) return at;
    }
    return Infinity;
  }
}

interface Found {
  at: number;
  marker: string;
}

function firstOf(markers: readonly string[], text: string, from: number): Found | undefined {
  let first: Found | undefined;
  for (const marker of markers) {
    const at = text.indexOf(marker, from);
    if (at < 0) continue;
    const longer = first && at === first.at && marker.length > first.marker.length;
    if (!first || at < first.at || longer) first = { at, marker };
  }
  return first;
}
