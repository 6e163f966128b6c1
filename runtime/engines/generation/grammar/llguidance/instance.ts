import { readFile } from 'node:fs/promises';

interface Exports {
  memory: WebAssembly.Memory;
  take(length: number): number;
  set_tokens(at: number, length: number, ends: number, endsLength: number): number;
  compile(kind: number, at: number, length: number): number;
  fork(handle: number): number;
  mask(handle: number): number;
  check(handle: number, token: number): number;
  consume(handle: number, token: number): number;
  accepting(handle: number): number;
  release(handle: number): void;
  message_at(): number;
  message_length(): number;
}

export interface TokenTable {
  /** Number of tokens. */
  vocabulary: number;
  /** By id: the length of each token (u32, little endian), and then its bytes. */
  bytes: Uint8Array<ArrayBuffer>;
  /** Ids that end a text. */
  ends: readonly number[];
}

/** The byte before the name of a special token: no text of a UTF-8 grammar has it. */
export const SPECIAL = 0xff;

const KINDS = { json_schema: 0, regex: 1, lark: 2 } as const;
export type GrammarKind = keyof typeof KINDS;

/** The grammar, or a position in it, was refused; the message is llguidance's. */
export class GrammarRefused extends Error {}

const FILE = new URL('llguidance.wasm', import.meta.url);

/** Bytes by which the memory of WebAssembly grows. */
const PAGE_BYTES = 2 ** 16;

async function instantiate(): Promise<Exports> {
  const { instance } = await WebAssembly.instantiate(await readFile(FILE), {
    env: { now: () => performance.now() },
  });
  return instance.exports as unknown as Exports;
}

/** One llguidance over the tokens of one model. After a trap (a WebAssembly.RuntimeError) it must not be used again. */
export class GrammarInstance {
  private constructor(
    private readonly wasm: Exports,
    readonly vocabulary: number,
    readonly ends: readonly number[],
  ) {}

  /** Sorts the tokens on the caller's thread, which takes up to two seconds. */
  static async open({ vocabulary, bytes, ends }: TokenTable): Promise<GrammarInstance> {
    const opened = new GrammarInstance(await instantiate(), vocabulary, ends);
    const table = opened.give(bytes);
    const ids = opened.give(new Uint8Array(Uint32Array.from(ends).buffer));
    opened.done(opened.wasm.set_tokens(...table, ...ids));
    return opened;
  }

  /**
   * An instance like another one, which has no state outside of its memory.
   * @param memory of an instance over the same tokens, in pieces from the first byte on
   */
  static async restore(
    { vocabulary, ends }: Omit<TokenTable, 'bytes'>,
    memory: AsyncIterable<Uint8Array>,
  ): Promise<GrammarInstance> {
    const wasm = await instantiate();
    let at = 0;
    for await (const piece of memory) {
      const missing = at + piece.length - wasm.memory.buffer.byteLength;
      if (missing > 0) wasm.memory.grow(Math.ceil(missing / PAGE_BYTES));
      new Uint8Array(wasm.memory.buffer).set(piece, at);
      at += piece.length;
    }
    return new GrammarInstance(wasm, vocabulary, ends);
  }

  /** All its state; valid until the next call. */
  get memory(): Uint8Array {
    return new Uint8Array(this.wasm.memory.buffer);
  }

  /** A grammar at its start. @throws GrammarRefused when llguidance can't have it */
  compile(kind: GrammarKind, source: string): GrammarState {
    const given = this.give(new TextEncoder().encode(source));
    return new GrammarState(this, this.done(this.wasm.compile(KINDS[kind], ...given)));
  }

  /** @internal */
  fork(handle: number): number {
    return this.done(this.wasm.fork(handle));
  }

  /** @internal A bit for each token, the lowest first; valid until the next call. */
  mask(handle: number): Uint32Array {
    const at = this.done(this.wasm.mask(handle));
    return new Uint32Array(this.wasm.memory.buffer, at, Math.ceil(this.vocabulary / 32));
  }

  /** @internal */
  check(handle: number, token: number): boolean {
    return this.done(this.wasm.check(handle, token)) === 2;
  }

  /** @internal */
  consume(handle: number, token: number): void {
    this.done(this.wasm.consume(handle, token));
  }

  /** @internal */
  accepting(handle: number): boolean {
    return this.done(this.wasm.accepting(handle)) === 2;
  }

  /** @internal */
  release(handle: number): void {
    this.wasm.release(handle);
  }

  private give(bytes: Uint8Array): [number, number] {
    const at = this.wasm.take(bytes.length);
    new Uint8Array(this.wasm.memory.buffer, at, bytes.length).set(bytes);
    return [at, bytes.length];
  }

  private done(result: number): number {
    if (result !== 0) return result >>> 0;
    const message = new Uint8Array(
      this.wasm.memory.buffer,
      this.wasm.message_at(),
      this.wasm.message_length(),
    );
    throw new GrammarRefused(new TextDecoder().decode(message));
  }
}

/** A position in a grammar: of one row, moved by the tokens that are chosen. Released by who made it. */
export class GrammarState {
  constructor(
    private readonly instance: GrammarInstance,
    private readonly handle: number,
  ) {}

  /** A state of its own at the same position. */
  fork(): GrammarState {
    return new GrammarState(this.instance, this.instance.fork(this.handle));
  }

  /** Whether the token may come next. */
  allows(token: number): boolean {
    return token < this.instance.vocabulary && this.instance.check(this.handle, token);
  }

  /** Sets the scores of tokens that may not come next to minus infinity, those beyond the vocabulary, too. */
  restrict(scores: Float32Array): void {
    const mask = this.instance.mask(this.handle);
    for (let id = 0; id < scores.length; id += 1)
      if (id >= this.instance.vocabulary || ((mask[id >>> 5]! >>> (id & 31)) & 1) === 0)
        scores[id] = -Infinity;
  }

  /** @throws GrammarRefused when the token may not come next; the state is of no use then */
  consume(token: number): void {
    this.instance.consume(this.handle, token);
  }

  /** Whether the text may end here. */
  get accepting(): boolean {
    return this.instance.accepting(this.handle);
  }

  /** Whether the text has to end here. */
  get complete(): boolean {
    if (!this.accepting) return false;
    const mask = this.instance.mask(this.handle).slice();
    for (const id of this.instance.ends) mask[id >>> 5]! &= ~(1 << (id & 31));
    return mask.every((bits) => bits === 0);
  }

  release(): void {
    this.instance.release(this.handle);
  }
}

/**
 * @param tokens bytes of each token, by id; of a special token SPECIAL and then its name
 * @param ends ids that end a text
 */
export function tokenTable(tokens: readonly Uint8Array[], ends: readonly number[]): TokenTable {
  const bytes = new Uint8Array(tokens.reduce((sum, { length }) => sum + 4 + length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const token of tokens) {
    view.setUint32(at, token.length, true);
    bytes.set(token, at + 4);
    at += 4 + token.length;
  }
  return { vocabulary: tokens.length, bytes, ends };
}
