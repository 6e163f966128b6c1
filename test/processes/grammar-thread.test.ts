import { describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import {
  GrammarInstance,
  type GrammarState,
  SPECIAL,
  tokenTable,
} from '../../runtime/engines/generation/grammar/llguidance/instance.js';
import { openOn } from '../../runtime/engines/generation/grammar/llguidance/open-aside.js';
import { ROOT } from '../fakes/server.js';

const THREAD = join(ROOT, 'dist/image/grammar-thread.mjs');
const END = 256;
/** All bytes, an end, and enough words that their tree takes several pieces of memory. */
const words = Array.from({ length: 30_000 }, (_, i) => Buffer.from(`word ${i}`));
const tokens = [
  ...Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)),
  Uint8Array.of(SPECIAL, ...Buffer.from('<end>')),
  ...words,
];
const table = () => tokenTable(tokens, [END]);
const SCHEMA = JSON.stringify({ enum: ['word 7', 'word 29999', 3] });

/** Ids that may come next. */
function allowed(state: GrammarState): number[] {
  const scores = new Float32Array(tokens.length);
  state.restrict(scores);
  return [...scores.keys()].filter((id) => scores[id] === 0);
}

/** A thread that runs `source` in place of llguidance. */
const threadOf = (source: string) => new Worker(source, { eval: true });

describe('llguidance opened on a thread', () => {
  it('follows grammars as one that was opened here does', async () => {
    const [there, here] = [
      await openOn(new Worker(THREAD, { workerData: table() }), table()),
      await GrammarInstance.open(table()),
    ];
    expect(there.memory.length).toBeGreaterThan(8 * 2 ** 20);
    for (const [kind, source] of [['json_schema', SCHEMA] as const, ['regex', '(word [0-9]+ ?)+'] as const]) {
      const states = [there, here].map((one) => one.compile(kind, source));
      for (let step = 0; step < 6; step++) {
        const [ours, theirs] = states.map(allowed) as [number[], number[]];
        expect(ours.length).toBeGreaterThan(0);
        expect(ours).toEqual(theirs);
        for (const state of states) if (ours.at(-1) !== END) state.consume(ours.at(-1)!);
      }
    }
  });

  it('tells why the thread failed', async () => {
    const wrong = tokenTable(tokens, [99_999]);
    await expect(openOn(new Worker(THREAD, { workerData: wrong }), wrong)).rejects.toThrow(
      'not in the vocabulary',
    );
  });

  it('listens from the start: a thread may fail before its first piece is asked for', async () => {
    const worker = threadOf('setInterval(() => {}, 1000)');
    const opened = openOn(worker, table());
    worker.emit('error', new Error('failed early'));
    await expect(opened).rejects.toThrow('failed early');
  });

  it('does not wait for a thread that ends, nor takes a part of its memory for the whole', async () => {
    const early = `const { parentPort } = require('node:worker_threads');
      parentPort.postMessage(new Uint8Array(65536)); setTimeout(() => process.exit(0), 20);`;
    for (const source of ['', early])
      await expect(openOn(threadOf(source), table())).rejects.toThrow('ended before it was done');
  });
});
