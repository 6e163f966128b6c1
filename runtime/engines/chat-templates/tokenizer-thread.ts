import { parentPort, workerData } from 'node:worker_threads';
import { RunError } from '../../core/errors.js';
import { openTokenizerWork } from './answer-tokenizer.js';
import type { ThreadData, ThreadReply, ThreadRequest } from './threaded-tokenizer.js';

/** Worker thread: answers requests to the tokenizer of the model in a folder, one after the other. */
const { dir, how } = workerData as ThreadData;
const { answer, encode, tokenize } = openTokenizerWork(dir, how);
const port = parentPort!;

/** Whoever leaves ends the thread. */
const { signal } = new AbortController();

port.on('message', (request: ThreadRequest) => void reply(request));

async function reply(request: ThreadRequest): Promise<void> {
  port.postMessage(await replyTo(request));
}

async function replyTo(request: ThreadRequest): Promise<ThreadReply> {
  try {
    if ('prompt' in request) return { answer: await encode(request) };
    if ('whole' in request) return { answer: await tokenize(request) };
    return { answer: await answer(request, signal) };
  } catch (error) {
    // What is no RunError ends the thread, and its caller is told.
    if (!(error instanceof RunError)) throw error;
    return { error: { code: error.code, message: error.message } };
  }
}
