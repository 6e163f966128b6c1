import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Recipe } from '../../runtime/models/writer/storage.js';
import { BuilderError } from '../exit.js';
import { complaint, type OwnProcess, startProcess } from '../own-process.js';
import type { MakeOptions } from './build-packed-file.js';

/** What the process is asked to write, as one line of JSON. */
export interface MakeJob {
  target: string;
  from: string;
  recipe: Recipe;
}

/** A line of what it prints: how far it is, and at the end the file's SHA-256 or an error of the file system. */
export type MakeReply =
  | { doneBytes: number }
  | { sha256: string }
  | { failed: Pick<NodeJS.ErrnoException, 'message' | 'code' | 'path'> };

/**
 * buildPackedFile in a process of its own: what packing takes of memory is free again when the model is served.
 * @returns SHA-256 of the file in hex
 * @throws errors of the file system, with their codes; BuilderError when the process is killed; the signal's reason
 */
export async function makeAside(
  job: MakeJob,
  place: Omit<OwnProcess, 'script'>,
  onProgress: MakeOptions['onProgress'],
): Promise<string> {
  const child = startProcess({ ...place, script: 'make-weights.js' });
  // It stays open: its end would tell the process that nobody waits.
  child.stdin.write(`${JSON.stringify(job)}\n`);
  const [outcome, complained, [status, killer]] = await Promise.all([
    outcomeOf(child.stdout, (doneBytes) => onProgress?.(doneBytes, job.recipe.size)),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>,
  ]);
  if (outcome && 'sha256' in outcome) return outcome.sha256;
  if (outcome) throw Object.assign(new Error(outcome.failed.message), outcome.failed);
  const reason = killer ? `was ended by ${killer}` : `ended with status ${status}: ${complaint(complained)}`;
  throw new BuilderError(
    'failure',
    `the process that writes the weights ${reason}; see that the machine has memory left, and run the command again`,
  );
}

type Outcome = Exclude<MakeReply, { doneBytes: number }>;

/** The last reply of a process; undefined where it ended before it had one. */
async function outcomeOf(
  stdout: Readable,
  onProgress: (doneBytes: number) => void,
): Promise<Outcome | undefined> {
  for await (const line of createInterface({ input: stdout })) {
    const reply = JSON.parse(line) as MakeReply;
    if (!('doneBytes' in reply)) return reply;
    onProgress(reply.doneBytes);
  }
  return undefined;
}
