import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { FileCheck } from './record.js';

export interface HashRequest {
  files: readonly FileCheck[];
  /** Leave the processor to whoever else wants it. */
  quietly: boolean;
}

/** What the thread says. */
export interface HashResult {
  /** Of the first file that is not what it has to be. */
  problem: string | undefined;
}

/** Script of the worker thread: beside the bundle, or beside this module when it is not bundled. */
const SCRIPT = import.meta.url.endsWith('.mjs') ? './hash-thread.mjs' : './thread.js';

/**
 * Hashes files on a thread of their own: the server answers meanwhile.
 * @returns what is wrong with the first one that is not what it has to be. @throws the signal's reason
 */
export async function hashOnThread(hashing: HashRequest, signal: AbortSignal): Promise<string | undefined> {
  signal.throwIfAborted();
  const worker = new Worker(fileURLToPath(new URL(SCRIPT, import.meta.url)), {
    workerData: hashing,
    resourceLimits: { maxYoungGenerationSizeMb: 2 },
  });
  // A server that ends does not wait for it.
  worker.unref();
  try {
    // Rejects with what the thread throws, too.
    const [{ problem }] = (await once(worker, 'message', { signal })) as [HashResult];
    return problem;
  } finally {
    await worker.terminate();
  }
}
