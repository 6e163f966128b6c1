import { createInterface } from 'node:readline';
import type { MakeJob, MakeReply } from './make-aside.js';
import { buildPackedFile } from './build-packed-file.js';

/**
 * A process of its own that writes the file of a recipe: reads a job as a line of JSON, and prints replies, one a line. It ends
 * when standard input does, since then nobody waits for it any more.
 */
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const { target, from, recipe } = JSON.parse((await lines.next()).value as string) as MakeJob;
const reply = (one: MakeReply): boolean => process.stdout.write(`${JSON.stringify(one)}\n`);
void lines.next().then(() => process.exit(1));
try {
  const onProgress = (doneBytes: number) => reply({ doneBytes });
  reply({ sha256: await buildPackedFile(target, { from, recipe, onProgress }) });
} catch (error) {
  const { message, code, path } = error as NodeJS.ErrnoException;
  reply({ failed: { message, code, path } });
}
process.exit(0);
