import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { threadAside } from '../../../../../runtime/engines/generation/prompts/prompt-encoder.js';
import {
  createPromptEncoder,
  LONG_PROMPT,
} from '../../../../../runtime/engines/tokenizers/prompt-encoder.js';

const { signal } = new AbortController();
const here = { encode: () => ({ ids: [1] }) } as unknown as Parameters<typeof createPromptEncoder>[0];

test('long prompts are tokenised aside, with the options and for the caller that they have', async () => {
  const asked: unknown[] = [];
  const encode = createPromptEncoder(here, (...args) => {
    asked.push(args);
    return Promise.resolve([2]);
  });
  const [short, long] = ['x'.repeat(LONG_PROMPT - 1), 'x'.repeat(LONG_PROMPT)];
  const options = { specialTokens: false, maxLength: 7 };
  expect(await encode(short, options, signal)).toEqual([1]);
  expect(asked).toEqual([]);
  expect(await encode(long, options, signal)).toEqual([2]);
  expect(asked).toEqual([[long, options, signal]]);
});

test('where there is no room aside, they are tokenised here', async () => {
  const encode = createPromptEncoder(here, () => undefined);
  expect(await encode('x'.repeat(LONG_PROMPT), {}, signal)).toEqual([1]);
});

test('a second tokenizer starts only where it takes a quarter of what is free', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'tokenizer-'));
  writeFileSync(join(dir, 'tokenizer.json'), Buffer.alloc(5e6));
  let isRunning = false;
  const thread = { isRunning: () => isRunning, encode: async () => [3], answer: async () => ({ texts: [] }) };
  const aside = (free: number) => {
    const limit = process.memoryUsage.rss() + free;
    return threadAside(thread, { dir, memory: { limit, bodies: 0 } })('text', {}, signal);
  };
  expect(aside(300e6)).toBeUndefined();
  expect(await aside(900e6)).toEqual([3]);
  // One that runs has its memory already.
  isRunning = true;
  expect(await aside(300e6)).toEqual([3]);
});
