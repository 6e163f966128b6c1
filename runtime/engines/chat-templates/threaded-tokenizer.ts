import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import { type ErrorCode, RunError } from '../../core/errors.js';
import type { TokenizerAnswer, TokenizerRequest } from '../../core/handles/index.js';
import type { TokenizedText } from '../tokenizers/tokenize.js';
import type { Encoding, LoadTokenizerOptions } from '../tokenizers/tokenizer.js';
import type { AnswerTokenizer, PromptText, WholeText } from './answer-tokenizer.js';

/** Which tokenizer a thread opens. */
export interface ThreadData {
  dir: string;
  how: LoadTokenizerOptions;
}

/** What the thread is asked, and what it posts for that. */
export type ThreadRequest = TokenizerRequest | PromptText | WholeText;
type Answer = TokenizerAnswer | Encoding | TokenizedText;
export type ThreadReply = { answer: Answer } | { error: { code: ErrorCode; message: string } };

/** The tokenizer of a model on a worker thread. */
export interface ThreadedTokenizer {
  answer: AnswerTokenizer;
  /** @throws RunError as `encode` of a tokenizer */
  encode(text: PromptText, signal: AbortSignal): Promise<Encoding>;
  tokenize(text: WholeText, signal: AbortSignal): Promise<TokenizedText>;
  isRunning(): boolean;
}

/** One request at a time. The thread starts with the first; when the caller of the one that it is at leaves, it is ended. */
export function threadedTokenizer(start: () => Worker): ThreadedTokenizer {
  const limit = pLimit(1);
  let thread: Worker | undefined;
  const ask = async (request: ThreadRequest, signal: AbortSignal): Promise<Answer> => {
    signal.throwIfAborted();
    thread ??= started(start, () => (thread = undefined));
    const worker = thread;
    try {
      worker.postMessage(request, []);
      const [reply] = (await once(worker, 'message', { signal })) as [ThreadReply];
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
  const inTurn = (request: ThreadRequest, signal: AbortSignal) =>
    unlessAborted(signal, () => limit(() => ask(request, signal)));
  return {
    answer: (request, signal) => inTurn(request, signal) as Promise<TokenizerAnswer>,
    encode: (text, signal) => inTurn(text, signal) as Promise<Encoding>,
    tokenize: (text, signal) => inTurn(text, signal) as Promise<TokenizedText>,
    isRunning: () => thread !== undefined,
  };
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
