import { describe } from '../core/errors.js';
import { createOutbox } from '../core/outbox.js';
import { preloadHead } from '../engines/index.js';
import { clearScratch } from '../boot/scratch.js';
import { headOf } from '../tasks/registry.js';
import { createEngineHost } from './host.js';
import type { FromEngine, ToEngine } from './protocol.js';

/** The child process: connects the engine host to the IPC channel, or runs the GPU probe. Ends with its parent. */
if (process.argv.includes('--probe-cuda')) {
  // Neither library is in all images.
  const { probeCuda } = await import('../engines/sessions/cuda-probe.js');
  process.send!({ problem: await probeCuda() });
  process.exit(0);
}
if (process.argv.includes('--probe-llama')) {
  const { probeLlama } = await import('../engines/llama/probe.js');
  process.send!({ problem: await probeLlama() });
  process.exit(0);
}

const outbox = createOutbox((messages: FromEngine[]) => {
  if (process.connected) process.send!(messages);
});
const host = createEngineHost(outbox.put);

process.on('message', (message) => {
  for (const item of message as ToEngine[]) host.receive(item);
});
// exit() would abort with a core dump while a session thread is running.
process.on('disconnect', () => {
  clearScratch(process.pid);
  process.kill(process.pid, 'SIGKILL');
});
// Ignored: Ctrl-C goes to the whole process group, but the parent decides when to stop.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
process.on('unhandledRejection', (error) => {
  process.stderr.write(`unhandled rejection: ${describe(error)}\n`);
  process.exit(70);
});

const [flag, engine = '', task = ''] = process.argv.slice(2);
// While the parent starts, the code that it will ask for is loaded. What fails here fails again then, and is told.
if (flag === '--for') await preloadHead(engine, headOf(task, engine)).catch(() => {});
