import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import {
  GrammarInstance,
  GrammarRefused,
  SPECIAL,
  type GrammarState,
  tokenTable,
} from '../../../../../runtime/engines/generation/grammar/llguidance/instance.js';

const ROOM = 'runtime/engines/generation/grammar/llguidance';
const END = 256;
const SECOND_END = 257;
const tokens = [
  ...Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)),
  ...['<end>', '<turn>'].map((name) => Uint8Array.of(SPECIAL, ...Buffer.from(name))),
  Buffer.from('{"'),
];

let instance: GrammarInstance;
beforeAll(async () => {
  instance = await GrammarInstance.open(tokenTable(tokens, [END, SECOND_END]));
});

/** Random scores, the same for the same seed (mulberry32). */
function randomness(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** What the best of random scores writes; undefined when it has no end after 400 tokens. */
function write(state: GrammarState, random: () => number): string | undefined {
  const written: number[] = [];
  while (written.length < 400) {
    const scores = Float32Array.from({ length: tokens.length + 7 }, random);
    // Strings and lists end soon.
    for (const id of [0x22, 0x5d, 0x7d, END]) scores[id]! += 0.5;
    state.restrict(scores);
    const best = scores.indexOf(Math.max(...scores));
    expect(state.allows(best)).toBe(true);
    if (best === END || best === SECOND_END) return Buffer.from(written).toString();
    state.consume(best);
    written.push(...tokens[best]!);
  }
  return undefined;
}

const SCHEMAS = [
  { type: 'object', properties: { a: { type: 'string', maxLength: 9 } }, required: ['a'] },
  { type: 'object', properties: { n: { type: 'integer', minimum: -3, maximum: 120 } }, required: ['n'] },
  { type: 'array', items: { enum: ['é"', 2, null, [true]] }, minItems: 1, maxItems: 4 },
  { anyOf: [{ const: { k: 1 } }, { type: 'number', exclusiveMinimum: 0, maximum: 1 }] },
  {
    allOf: [
      { type: 'integer', multipleOf: 3 },
      { minimum: 0, maximum: 99 },
    ],
  },
  {
    $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } }, maxProperties: 1 } },
    type: 'object',
    properties: { pattern: { type: 'string', pattern: '^[a-c]{2,4}$' } },
    required: ['pattern'],
    additionalProperties: false,
  },
];

it.each(SCHEMAS.map((schema) => [JSON.stringify(schema), schema]))(
  'what is written under %s is valid',
  (source, schema) => {
    const valid = new Ajv2020({ strict: false }).compile(schema as object);
    const start = instance.compile('json_schema', source);
    let ended = 0;
    for (let seed = 0; seed < 25; seed += 1) {
      const state = start.fork();
      const text = write(state, randomness(seed));
      state.release();
      if (text === undefined) continue;
      ended += 1;
      expect([text, valid(JSON.parse(text))]).toEqual([text, true]);
    }
    start.release();
    expect(ended).toBeGreaterThan(12);
  },
);

it('may end only where the text is whole, with any token that ends', () => {
  const state = instance.compile('regex', 'ab?');
  expect([state.accepting, state.allows(END), state.allows(0x61), state.allows(0x62)]).toEqual([
    false,
    false,
    true,
    false,
  ]);
  state.consume(0x61);
  expect([state.accepting, state.allows(END), state.allows(SECOND_END)]).toEqual([true, true, true]);
  state.release();
});

it('forks go their own ways', () => {
  const one = instance.compile('lark', 'start: "yes" | "no"');
  const other = one.fork();
  one.consume(0x79);
  other.consume(0x6e);
  expect([one.allows(0x65), one.allows(0x6f), other.allows(0x65), other.allows(0x6f)]).toEqual([
    true,
    false,
    false,
    true,
  ]);
  one.release();
  other.release();
});

it('has no blanks in JSON, whatever options the schema brings', () => {
  const state = instance.compile(
    'json_schema',
    JSON.stringify({ type: 'object', 'x-guidance': { whitespace_flexible: true, lenient: true } }),
  );
  expect([state.allows(0x20), state.allows(0x7b)]).toEqual([false, true]);
  state.consume(0x7b);
  expect([state.allows(0x20), state.allows(0x0a), state.allows(0x22)]).toEqual([false, false, true]);
  state.release();
});

it.each([
  ['json_schema', '{"not":{"type":"string"}}', 'not'],
  ['json_schema', '{"type":"array","uniqueItems":true}', 'uniqueItems'],
  ['json_schema', '{"type":"string","format":"nonsense","x-guidance":{"lenient":true}}', 'nonsense'],
  ['json_schema', 'false', 'no value fits'],
  ['json_schema', '{', 'EOF'],
  ['regex', '(', 'regex'],
  ['lark', 'start: missing', 'missing'],
] as const)('refuses %s %s by name', (kind, source, part) => {
  expect(() => instance.compile(kind, source)).toThrow(GrammarRefused);
  expect(() => instance.compile(kind, source)).toThrow(part);
});

it('refuses tokens that end a text and are not there', async () => {
  await expect(GrammarInstance.open(tokenTable(tokens, [9999]))).rejects.toThrow('not in the vocabulary');
});

it('the artefact is the one whose hash is recorded, and names no folder of the machine that built it', () => {
  const wasm = readFileSync(`${ROOM}/llguidance.wasm`);
  const [recorded] = readFileSync(`${ROOM}/llguidance.wasm.sha256`, 'utf8').split(' ');
  expect(createHash('sha256').update(wasm).digest('hex')).toBe(recorded);
  expect(wasm.toString('latin1')).not.toMatch(/\/(root|home|Users)\//);
});
