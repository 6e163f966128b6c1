import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { countRun } from './graph-runs.js';
import { type HostReply, buffersOf, type HostCall } from './host-calls.js';
import type { SessionHost } from './host.js';
import type { Tensors } from './tensors.js';

/** Script of the worker thread: beside the bundle, or beside this module when it is not bundled. */
const SCRIPT = import.meta.url.endsWith('.mjs') ? './session-thread.mjs' : './thread.js';

function startSessionThread(): Worker {
  // Messages are all that lives there; tensors are outside of V8's heap.
  const resourceLimits = { maxYoungGenerationSizeMb: 2 };
  return new Worker(fileURLToPath(new URL(SCRIPT, import.meta.url)), { resourceLimits });
}

export interface SessionThread extends SessionHost {
  /** Ends a thread that has opened nothing. */
  end(): Promise<unknown>;
}

/**
 * Sessions on a thread of their own. Feeds are handed over to it: their memory is gone for the caller.
 * A thread that dies takes its process with it, which the parent then replaces.
 */
export function threadHost(startWorker = startSessionThread): SessionThread {
  const worker = startWorker();
  const open = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let nextId = 1;

  worker.on('message', (answer: HostReply) => {
    const call = open.get(answer.id)!;
    open.delete(answer.id);
    if ('error' in answer) call.reject(new Error(answer.error));
    else call.resolve(answer.result);
  });
  worker.on('error', (error) => {
    process.stderr.write(`a session thread died: ${error.message}\n`);
    // Not exit(): native code may be running on the other threads, and would abort with a core dump.
    process.kill(process.pid, 'SIGKILL');
  });

  const call = <T>(method: HostCall['method'], args: unknown[], transfer: ArrayBuffer[] = []): Promise<T> =>
    new Promise((resolve, reject) => {
      const id = nextId++;
      // Throws, which rejects, for feeds that can't be handed over.
      worker.postMessage({ id, method, args } satisfies HostCall, transfer);
      open.set(id, { resolve, reject });
    });

  return {
    open: (graph, options) => call('open', [graph, options]),
    async run(key, feeds) {
      countRun();
      return call<Tensors>('run', [key, feeds], buffersOf(feeds));
    },
    close: (key) => call('close', [key]),
    writeOptimized: (graph, dir) => call('writeOptimized', [graph, dir]),
    end: () => worker.terminate(),
  };
}
