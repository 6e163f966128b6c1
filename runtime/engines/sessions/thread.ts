import { parentPort } from 'node:worker_threads';
import { type Answer, buffersOf, type Call } from './calls.js';
import { localHost } from './host.js';
import type { Tensors } from './tensors.js';

/** Worker thread: a session host behind messages. It never ends by itself; the process that it belongs to is killed. */
const host = localHost();
const port = parentPort!;

async function answer({ id, method, args }: Call): Promise<void> {
  try {
    const result = await (host[method] as (...args: unknown[]) => Promise<unknown>)(...args);
    const transfer = method === 'run' ? buffersOf(result as Tensors) : [];
    port.postMessage({ id, result } satisfies Answer, transfer);
  } catch (error) {
    port.postMessage({ id, error: (error as Error).message } satisfies Answer);
  }
}

port.on('message', (call: Call) => void answer(call));
