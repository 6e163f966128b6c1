import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { type AnswerTokenizer, answerTokenizer } from './answer-tokenizer.js';
import type { LoadTokenizerOptions } from '../tokenizers/tokenizer.js';
import { type ThreadData, threadedTokenizer, type ThreadedTokenizer } from './threaded-tokenizer.js';

/** Script of the worker thread, beside the bundle. */
const SCRIPT = './tokenizer-thread.mjs';

/** One for each tokenizer: who asks for tokens and long texts share it. */
const threads = new Map<string, ThreadedTokenizer>();

/** The tokenizer of a model in a folder on a thread of its own. Undefined without a bundle, as in tests. */
export function tokenizerThread(dir: string, how: LoadTokenizerOptions = {}): ThreadedTokenizer | undefined {
  if (!import.meta.url.endsWith('.mjs')) return undefined;
  const workerData: ThreadData = { dir, how };
  const start = () => new Worker(fileURLToPath(new URL(SCRIPT, import.meta.url)), { workerData });
  const key = `${how.lowerCase === true} ${dir}`;
  const thread = threads.get(key) ?? threadedTokenizer(start);
  threads.set(key, thread);
  return thread;
}

/**
 * Answers what is asked of a model's tokenizer on a thread of its own: a text of 2^18 characters takes seconds, in which generations would
 * stand still.
 */
export const tokenizerOf = (dir: string): AnswerTokenizer =>
  tokenizerThread(dir)?.answer ?? answerTokenizer(dir);
