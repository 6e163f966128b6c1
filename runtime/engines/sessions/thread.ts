import { parentPort } from 'node:worker_threads';
import { type HostReply, buffersOf, type HostCall } from './host-calls.js';
import { localHost } from './host.js';
import type { Tensors } from './tensors.js';

/** Worker thread: a session host behind messages. It never ends by itself; the process that it belongs to is killed. */
const host = localHost();
const port = parentPort!;

async function answer({ id, method, args }: HostCall): Promise<void> {
  try {
    const result = await (host[method] as (...args: unknown[]) => Promise<unknown>)(...args);
    const transfer = method === 'run' ? buffersOf(result as Tensors) : [];
    port.postMessage({ id, result } satisfies HostReply, transfer);
  } catch (error) {
    port.postMessage({ id, error: (error as Error).message } satisfies HostReply);
  }
}

port.on('message', (call: HostCall) => void answer(call));
