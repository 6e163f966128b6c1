import { parentPort, workerData } from 'node:worker_threads';
import { RunError } from '../../core/errors.js';
import type { TokenizerRequest } from '../../core/handles/index.js';
import { answerTokenizer } from './answer-tokenizer.js';
import type { TokenizerReply } from './tokenizer-requests.js';

/** Worker thread: answers requests to the tokenizer of the model in a folder, one after the other. */
const answer = answerTokenizer(workerData as string);
const port = parentPort!;

/** Whoever leaves ends the thread. */
const { signal } = new AbortController();

port.on('message', (request: TokenizerRequest) => void reply(request));

async function reply(request: TokenizerRequest): Promise<void> {
  port.postMessage(await replyTo(request));
}

async function replyTo(request: TokenizerRequest): Promise<TokenizerReply> {
  try {
    return { answer: await answer(request, signal) };
  } catch (error) {
    // What is no RunError ends the thread, and its caller is told.
    if (!(error instanceof RunError)) throw error;
    return { error: { code: error.code, message: error.message } };
  }
}
