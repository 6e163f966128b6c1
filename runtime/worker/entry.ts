import { describe } from '../core/errors.js';
import { createOutbox } from '../core/outbox.js';
import { probeCuda } from '../engines/sessions/cuda-probe.js';
import { clearScratch } from '../scratch.js';
import { createEngineHost } from './host.js';
import type { FromEngine, ToEngine } from './protocol.js';

/** Child process: binds the engine host to the IPC channel, or answers the GPU probe. Ends with its parent. */
if (process.argv.includes('--probe-cuda')) {
  process.send!({ problem: await probeCuda() });
  process.exit(0);
}

const outbox = createOutbox((messages: FromEngine[]) => {
  if (process.connected) process.send!(messages);
});
const host = createEngineHost(outbox.put);

process.on('message', (message) => {
  for (const each of message as ToEngine[]) host.receive(each);
});
// Not exit(): a session thread in the middle of a run would abort it with a core dump.
process.on('disconnect', () => {
  clearScratch(process.pid);
  process.kill(process.pid, 'SIGKILL');
});
// The parent decides when to stop; a Ctrl-C goes to the whole process group.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
process.on('unhandledRejection', (error) => {
  process.stderr.write(`unhandled rejection: ${describe(error)}\n`);
  process.exit(70);
});
