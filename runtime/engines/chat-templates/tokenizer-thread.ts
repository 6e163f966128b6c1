import { parentPort, workerData } from 'node:worker_threads';
import { RunError } from '../../core/errors.js';
import { openTokenizerWork } from './answer-tokenizer.js';
import type { ThreadReply, ThreadRequest } from './threaded-tokenizer.js';

/** Worker thread: answers requests to the tokenizer of the model in a folder, one after the other. */
const { answer, encode } = openTokenizerWork(workerData as string);
const port = parentPort!;

/** Whoever leaves ends the thread. */
const { signal } = new AbortController();

port.on('message', (request: ThreadRequest) => void reply(request));

async function reply(request: ThreadRequest): Promise<void> {
  port.postMessage(await replyTo(request));
}

async function replyTo(request: ThreadRequest): Promise<ThreadReply> {
  try {
    return { answer: await ('prompt' in request ? encode(request) : answer(request, signal)) };
  } catch (error) {
    // What is no RunError ends the thread, and its caller is told.
    if (!(error instanceof RunError)) throw error;
    return { error: { code: error.code, message: error.message } };
  }
}
