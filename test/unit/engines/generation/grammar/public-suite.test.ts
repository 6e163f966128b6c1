import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { askedGrammar } from '../../../../../runtime/engines/generation/grammar/asked-grammar.js';
import {
  GrammarInstance,
  GrammarRefused,
  type GrammarState,
  SPECIAL,
  tokenTable,
} from '../../../../../runtime/engines/generation/grammar/llguidance/instance.js';

/**
 * The public test suite of JSON Schema: what is invalid can't be written, or the schema is refused. Values come as JSON.stringify
 * writes them; a grammar may be stricter than its schema (properties stand in the schema's order).
 */

interface SuiteCase {
  description: string;
  schema: unknown;
  tests: { description: string; data: unknown; valid: boolean }[];
}

const { cases } = JSON.parse(readFileSync('test/fixtures/json-schema-suite.json', 'utf8')) as {
  cases: Record<string, SuiteCase[]>;
};

/** Bytes are tokens. */
const END = 256;
const tokens = [...Array.from({ length: END }, (_, i) => Uint8Array.of(i)), Uint8Array.of(SPECIAL, 0x3c)];

let instance: GrammarInstance;
const counted = { refused: 0, compiled: 0, written: 0, stricter: 0 };

beforeAll(async () => {
  instance = await GrammarInstance.open(tokenTable(tokens, [END]));
});

function compiled(schema: Record<string, unknown>): GrammarState | undefined {
  const { kind, source } = askedGrammar({ json_schema: schema })!;
  try {
    return instance.compile(kind, source);
  } catch (error) {
    if (error instanceof GrammarRefused) return undefined;
    throw error;
  }
}

function mayWrite(start: GrammarState, text: string): boolean {
  const state = start.fork();
  try {
    for (const id of Buffer.from(text)) {
      if (!state.allows(id)) return false;
      state.consume(id);
    }
    return state.accepting;
  } finally {
    state.release();
  }
}

describe.each(Object.keys(cases))('%s', (file) => {
  // true and false are no formats of answers.
  const schemas = cases[file]!.filter(({ schema }) => typeof schema === 'object');
  if (schemas.length === 0) return;
  test.each(schemas)('$description', ({ schema, tests }) => {
    const state = compiled(schema as Record<string, unknown>);
    counted[state ? 'compiled' : 'refused'] += 1;
    if (!state) return;
    for (const { data, valid } of tests) {
      const written = mayWrite(state, JSON.stringify(data));
      if (!valid) expect([data, written]).toEqual([data, false]);
      else counted[written ? 'written' : 'stricter'] += 1;
    }
    state.release();
  });
});

afterAll(() => {
  expect(counted.compiled).toBeGreaterThan(150);
  expect(counted.written).toBeGreaterThan(counted.stricter * 10);
});
