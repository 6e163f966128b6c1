import type { ParseContext } from '../parse/context.js';
import { Malformed, type Parsing } from '../parse/input.js';
import { readString, readValue } from '../parse/json.js';
import { callList } from './call-list.js';
import { expect } from './expect.js';
import type { JsonFormat } from './format.js';
import { anotherPythonCall, NAME_START, pythonCall } from './pythonic-calls.js';

/** Longest key, and longest name of a function. */
const MOST_KEY = 256;

/** Calls after a start marker, or at the beginning of the content. */
export function* jsonCalls(context: ParseContext, start: string, format: JsonFormat): Parsing {
  const { input } = context;
  let python = false;
  yield* callList(context, start, {
    ends: format.ends,
    *call(list) {
      yield* input.skipBlanks();
      // Models that need no marker write calls as Python does, too.
      python = format.bare === true && (list || start !== '') && NAME_START.test(yield* input.need());
      yield* python ? pythonCall(context) : jsonCall(context, format);
    },
    another: (list) => (python ? anotherPythonCall(context, list) : another(context, list)),
  });
}

/** Reads what stands between calls. @returns whether another one follows */
function* another({ input }: ParseContext, list: boolean): Parsing<boolean> {
  for (;;) {
    yield* input.skipBlanks();
    const unit = yield* input.peek();
    if (unit === 0x7b) return true; // {
    if (unit === 0x2c || (!list && unit === 0x3b)) {
      // , ;
      input.skip();
      continue;
    }
    if (list && unit === 0x5d) input.skip(); // ]
    return false;
  }
}

/** One call: an object with the name and the arguments, in either order. */
export function* jsonCall(context: ParseContext, format: Pick<JsonFormat, 'name' | 'arguments'>): Parsing {
  const call = new PendingCall(context);
  yield* callObject(context, call, format);
  call.finish();
}

/** Keeps arguments that come before the name. */
class PendingCall {
  readonly #context: ParseContext;
  #name: string | undefined;
  #arguments: string | undefined;

  constructor(context: ParseContext) {
    this.#context = context;
  }

  setName(name: string): void {
    if (this.#name !== undefined || !this.#context.tools.has(name)) throw new Malformed();
    this.#name = name;
    this.#context.answer.open(name);
    if (this.#arguments !== undefined) this.#context.answer.arguments(this.#arguments);
  }

  beginArguments(): void {
    if (this.#arguments !== undefined) throw new Malformed();
    this.#arguments = '';
  }

  addArguments(text: string): void {
    if (this.#name === undefined) this.#arguments += text;
    else this.#context.answer.arguments(text);
  }

  finish(): void {
    if (this.#name === undefined) throw new Malformed();
    if (this.#arguments === undefined) this.#context.answer.arguments('{}');
    this.#context.answer.close();
  }
}

type Keys = Pick<JsonFormat, 'name' | 'arguments'>;

function* callObject(context: ParseContext, call: PendingCall, keys: Keys): Parsing {
  const { input, alphabet } = context;
  yield* expect(context, '{');
  for (;;) {
    const key = yield* textIn(context);
    yield* expect(context, ':');
    yield* input.skipBlanks();
    if (key === keys.name) call.setName(yield* textIn(context));
    else if (key === keys.arguments || ARGUMENTS.has(key)) yield* callArguments(context, call);
    else if (key === 'function' && (yield* input.need()) === '{') yield* callObject(context, call, keys);
    else yield* readValue({ input, alphabet, use: () => {} });
    yield* input.skipBlanks();
    const next = yield* input.need();
    if (next === '}') {
      input.skip();
      return;
    }
    yield* expect(context, ',');
  }
}

const ARGUMENTS: ReadonlySet<string> = new Set(['arguments', 'parameters']);

/** The arguments: an object, or a text that holds one. */
function* callArguments(context: ParseContext, call: PendingCall): Parsing {
  const { input, alphabet } = context;
  const first = yield* input.need();
  call.beginArguments();
  if (first === '{') {
    yield* readValue({ input, alphabet, use: (text) => call.addArguments(text) });
    return;
  }
  let written = '';
  yield* readValue({ input, alphabet, use: (text) => (written += text) });
  const value: unknown = JSON.parse(written);
  if (value === null) {
    call.addArguments('{}');
    return;
  }
  if (typeof value !== 'string' || !isObjectText(value)) throw new Malformed();
  call.addArguments(value);
}

function isObjectText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** A short text with its quotes. */
export function* textIn({ input, alphabet }: ParseContext): Parsing<string> {
  yield* input.skipBlanks();
  if ((yield* input.need()) !== '"') throw new Malformed();
  let written = '';
  yield* readString({
    input,
    alphabet,
    use(text) {
      written += text;
      if (written.length > MOST_KEY) throw new Malformed();
    },
  });
  return JSON.parse(written) as string;
}

/** JSON arguments by themselves, for the call that is open. */
export function* jsonArguments({ input, alphabet, answer }: ParseContext): Parsing {
  yield* input.skipBlanks();
  const first = yield* input.need();
  if (first !== '{') throw new Malformed();
  yield* readValue({ input, alphabet, use: (text) => answer.arguments(text) });
}
