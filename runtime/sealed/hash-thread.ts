import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { FileCheck } from './record.js';

export interface HashRequest {
  files: readonly FileCheck[];
  /** Run with low priority. */
  quietly: boolean;
}

/** Message of the thread. */
export interface HashResult {
  /** The first mismatch. */
  problem: string | undefined;
}

/** Script of the worker thread: beside the bundle, or beside this module if it is not bundled. */
const SCRIPT = import.meta.url.endsWith('.mjs') ? './hash-thread.mjs' : './thread.js';

/**
 * Hashes files on a worker thread, while the server answers.
 * @returns a description of the first mismatch, if any. @throws the abort reason
 */
export async function hashOnThread(hashing: HashRequest, signal: AbortSignal): Promise<string | undefined> {
  signal.throwIfAborted();
  const worker = new Worker(fileURLToPath(new URL(SCRIPT, import.meta.url)), {
    workerData: hashing,
    resourceLimits: { maxYoungGenerationSizeMb: 2 },
  });
  // The thread does not keep the process alive.
  worker.unref();
  try {
    // Also rejects with errors of the thread.
    const [{ problem }] = (await once(worker, 'message', { signal })) as [HashResult];
    return problem;
  } finally {
    await worker.terminate();
  }
}
