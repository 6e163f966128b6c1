import { describe } from '../core/errors.js';
import { probeCuda } from '../engines/cuda-probe.js';
import { createEngineHost } from './host.js';
import type { FromEngine, ToEngine } from './protocol.js';

/** Child process: binds the engine host to the IPC channel, or answers the GPU probe. Ends with its parent. */
if (process.argv.includes('--probe-cuda')) {
  process.send!({ problem: await probeCuda() });
  process.exit(0);
}

const send = (message: FromEngine): void => {
  if (process.connected) process.send!(message);
};
const host = createEngineHost(send);

process.on('message', (message) => {
  host.receive(message as ToEngine);
});
// Not exit(): a session thread in the middle of a run would abort it with a core dump.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
// The parent decides when to stop; a Ctrl-C goes to the whole process group.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
process.on('unhandledRejection', (error) => {
  process.stderr.write(`unhandled rejection: ${describe(error)}\n`);
  process.exit(70);
});
