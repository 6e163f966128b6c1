import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { threadAside } from '../../../../runtime/engines/long-texts/thread-aside.js';
import {
  createPatientTokenizer,
  createPromptEncoder,
  LONG_TEXT,
} from '../../../../runtime/engines/tokenizers/patient-tokenizer.js';
import type { TextTokenizer } from '../../../../runtime/engines/tokenizers/tokenizer.js';

const { signal } = new AbortController();
const here = { encode: () => ({ ids: [1] }) } as unknown as Parameters<typeof createPromptEncoder>[0];

test('long prompts are tokenised aside, with the options and for the caller that they have', async () => {
  const asked: unknown[] = [];
  const encode = createPromptEncoder(here, (...args) => {
    asked.push(args);
    return Promise.resolve([2]);
  });
  const [short, long] = ['x'.repeat(LONG_TEXT - 1), 'x'.repeat(LONG_TEXT)];
  const options = { specialTokens: false, maxLength: 7 };
  expect(await encode(short, options, signal)).toEqual([1]);
  expect(asked).toEqual([]);
  expect(await encode(long, options, signal)).toEqual([2]);
  expect(asked).toEqual([[long, options, signal]]);
});

test('where there is no room aside, they are tokenised here', async () => {
  const encode = createPromptEncoder(here, () => undefined);
  expect(await encode('x'.repeat(LONG_TEXT), {}, signal)).toEqual([1]);
});

describe('a tokenizer that holds no event loop', () => {
  const row = { ids: [1], typeIds: [0] };
  const asked: unknown[] = [];
  beforeEach(() => asked.splice(0));
  const noted =
    (name: string) =>
    (...given: unknown[]) => {
      asked.push([name, ...given]);
      return row;
    };
  const tokenizer = { encode: noted('encode here'), tokenize: noted('tokenize here'), paddingSide: 'left' };
  const aside =
    (...given: Parameters<typeof noted>) =>
    async (...more: unknown[]) =>
      noted(...given)(...more);
  const patient = createPatientTokenizer(tokenizer as unknown as TextTokenizer, {
    encode: aside('encode aside'),
    tokenize: aside('tokenize aside'),
  });
  const [short, long] = ['x'.repeat(LONG_TEXT - 1), 'x'.repeat(LONG_TEXT)];

  test('reads long texts and long pairs aside', async () => {
    await patient.encode(short, { maxLength: 7 }, signal);
    await patient.encode(long, { maxLength: 7 }, signal);
    await patient.encode('q', { pair: short }, signal);
    await patient.tokenize(short, { traces: true }, signal);
    await patient.tokenize(long, { traces: true }, signal);
    expect(asked).toEqual([
      ['encode here', short, { maxLength: 7 }],
      ['encode aside', long, { maxLength: 7 }, signal],
      ['encode aside', 'q', { pair: short }, signal],
      ['tokenize here', short, { traces: true }],
      ['tokenize aside', long, { traces: true }, signal],
    ]);
    expect(patient.paddingSide).toBe('left');
  });

  test('reads them here where there is no room aside', async () => {
    const alone = createPatientTokenizer(tokenizer as unknown as TextTokenizer, {
      encode: () => undefined,
      tokenize: () => undefined,
    });
    expect(await alone.encode(long)).toEqual(row);
    expect(await alone.tokenize(long)).toEqual(row);
    expect(asked).toEqual([
      ['encode here', long, {}],
      ['tokenize here', long, {}],
    ]);
  });
});

test('a second tokenizer starts only where it takes a quarter of what is free', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'tokenizer-'));
  writeFileSync(join(dir, 'tokenizer.json'), Buffer.alloc(5e6));
  let isRunning = false;
  const tokens = { ids: [3], typeIds: [0] };
  const thread = {
    ...{ isRunning: () => isRunning, answer: async () => ({ texts: [] }) },
    ...{ encode: async () => tokens, tokenize: async () => tokens },
  };
  const aside = (free: number) => {
    const limit = process.memoryUsage.rss() + free;
    const { encode, tokenize } = threadAside(thread, { dir, memory: { limit, bodies: 0 } });
    return { row: encode('text', {}, signal), whole: tokenize('text', {}, signal) };
  };
  expect(aside(300e6)).toEqual({ row: undefined, whole: undefined });
  expect(await aside(900e6).row).toEqual(tokens);
  expect(await aside(900e6).whole).toEqual(tokens);
  // One that runs has its memory already.
  isRunning = true;
  expect(await aside(300e6).row).toEqual(tokens);
  expect(await aside(300e6).whole).toEqual(tokens);
});
