import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import { type ErrorCode, RunError } from '../../core/errors.js';
import type { TokenizerAnswer, TokenizerRequest } from '../../core/handles/index.js';
import { type AnswerTokenizer, answerTokenizer } from './answer-tokenizer.js';

/** What the thread posts for a request. */
export type TokenizerReply = { answer: TokenizerAnswer } | { error: { code: ErrorCode; message: string } };

/** Script of the worker thread, beside the bundle. */
const SCRIPT = './tokenizer-thread.mjs';

/**
 * Answers what is asked of a model's tokenizer on a thread of its own: a text of 2^18 characters takes seconds, in which generations would
 * stand still. Without a bundle, as in tests, it is this thread.
 */
export const tokenizerOf = (dir: string): AnswerTokenizer =>
  import.meta.url.endsWith('.mjs') ? threadedTokenizer(() => startThread(dir)) : answerTokenizer(dir);

const startThread = (dir: string): Worker =>
  new Worker(fileURLToPath(new URL(SCRIPT, import.meta.url)), { workerData: dir });

/** One request at a time. The thread starts with the first; when the caller of the one that it is at leaves, it is ended. */
export function threadedTokenizer(start: () => Worker): AnswerTokenizer {
  const limit = pLimit(1);
  let thread: Worker | undefined;
  const ask = async (request: TokenizerRequest, signal: AbortSignal): Promise<TokenizerAnswer> => {
    signal.throwIfAborted();
    thread ??= started(start, () => (thread = undefined));
    const worker = thread;
    try {
      worker.postMessage(request, []);
      const [reply] = (await once(worker, 'message', { signal })) as [TokenizerReply];
      if ('answer' in reply) return reply.answer;
      throw new RunError(reply.error.code, reply.error.message);
    } catch (error) {
      if (error instanceof RunError) throw error;
      thread = undefined;
      await worker.terminate();
      signal.throwIfAborted();
      throw new RunError('engine_failed', 'the tokenizer broke off; try again', { cause: error });
    }
  };
  return (request, signal) => unlessAborted(signal, () => limit(() => ask(request, signal)));
}

function started(start: () => Worker, onEnd: () => void): Worker {
  const worker = start();
  // The thread does not keep the process alive; one that ends by itself is started again.
  worker.unref();
  worker.on('error', onEnd);
  return worker;
}

/** Who leaves while others are before them doesn't wait for those. */
function unlessAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    work()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort));
  });
}
