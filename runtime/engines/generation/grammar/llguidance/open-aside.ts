import { on } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { GrammarInstance, type TokenTable } from './instance.js';
import type { ThreadReply } from './thread.js';

/** Script of the worker thread, beside the bundle. */
const SCRIPT = './grammar-thread.mjs';

/**
 * Opens llguidance beside the event loop: sorting 262,144 tokens takes up to two seconds, in which generations would stand
 * still. For a moment its memory is there twice. Without a bundle, as in tests, it is opened on the loop.
 */
export function openAside(table: TokenTable): Promise<GrammarInstance> {
  if (!import.meta.url.endsWith('.mjs')) return GrammarInstance.open(table);
  const script = fileURLToPath(new URL(SCRIPT, import.meta.url));
  return openOn(new Worker(script, { workerData: table, transferList: [table.bytes.buffer] }), table);
}

/** @throws what the thread throws, or that it ended too early */
export async function openOn(worker: Worker, table: Omit<TokenTable, 'bytes'>): Promise<GrammarInstance> {
  worker.unref();
  try {
    return await GrammarInstance.restore(table, piecesFrom(worker));
  } finally {
    await worker.terminate();
  }
}

/**
 * One piece at a time is on its way, so that neither memory nor the loop has to take them all at once. It listens at once: a
 * thread may fail before the first piece is asked for.
 */
function piecesFrom(worker: Worker): AsyncGenerator<Uint8Array> {
  const replies = on(worker, 'message', { close: ['exit'] }) as AsyncIterable<[ThreadReply]>;
  return askFor(replies, worker);
}

async function* askFor(replies: AsyncIterable<[ThreadReply]>, worker: Worker): AsyncGenerator<Uint8Array> {
  worker.postMessage('next', []);
  for await (const [piece] of replies) {
    if (piece === undefined) return;
    yield piece;
    worker.postMessage('next', []);
  }
  throw new Error('the thread that opens llguidance ended before it was done');
}
