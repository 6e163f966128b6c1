import { parentPort, workerData } from 'node:worker_threads';
import { GrammarInstance, type TokenTable } from './instance.js';

/** What is posted for a message: the next piece of memory, or undefined after the last one. */
export type ThreadReply = Uint8Array | undefined;

/** Copying it is a matter of a millisecond. */
const PIECE_BYTES = 2 ** 20;

/** Worker thread: opens llguidance over the tokens of a model, and gives its memory piece by piece. */
const { memory } = await GrammarInstance.open(workerData as TokenTable);
const port = parentPort!;
let at = 0;
port.on('message', () => {
  if (at >= memory.length) return port.postMessage(undefined satisfies ThreadReply);
  const piece = memory.slice(at, at + PIECE_BYTES);
  at += piece.length;
  port.postMessage(piece satisfies ThreadReply, [piece.buffer]);
});
