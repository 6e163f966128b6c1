import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { randomBytes } from 'node:crypto';
import type { ModelEntry } from '../catalog/entry.js';
import { freePort } from './free-port.js';
import { isServerAlive } from './server-status.js';
import type { ServerInstance, Launcher } from './upstream.js';

export interface ProcessOptions {
  /** Script of the command line whose `serve` is started. */
  builder: string;
  /** Environment of the servers: no key of the gateway's. */
  env: NodeJS.ProcessEnv;
  log: (line: string) => void;
}

const STOP_GRACE_MS = 10_000;

/** Runs each model as a process of its own, with the server that images hold. No Docker is needed. */
export function processLauncher(options: ProcessOptions): Launcher {
  return {
    async launch(entry, signal) {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const child = spawn(process.execPath, commandLine(entry, port, options), {
        env: { ...options.env, KEY: randomBytes(16).toString('hex') },
        // Its stdin ends with the gateway, however that ends; the server then ends, too.
        stdio: ['pipe', 'pipe', 'pipe'],
        // A group of its own: one that is frozen is ended with all that it has started.
        detached: true,
      });
      const ended = once(child, 'exit').then(([code, by]) =>
        by ? `was ended by ${by}` : `ended with code ${code}`,
      );
      const said = lastLine(child.stderr, (line) => options.log(`${entry.modelId}: ${line}`));
      const instance: ServerInstance = {
        url,
        ended,
        isAlive: () => isServerAlive(url),
        stop: () => stop(child, ended),
      };
      const leave = () => void instance.stop();
      signal.addEventListener('abort', leave, { once: true });
      try {
        // Its one result is printed when it is ready.
        const outcome = await Promise.race([once(child.stdout, 'data').then(() => 'ready'), ended]);
        if (outcome !== 'ready') throw new Error(said() || outcome);
        child.stdout.resume();
        return instance;
      } finally {
        signal.removeEventListener('abort', leave);
      }
    },
  };
}

function commandLine(
  { modelId, task, from }: ModelEntry,
  port: number,
  { builder }: ProcessOptions,
): string[] {
  const source = from === undefined ? [] : ['--from', from];
  const place = ['--port', String(port), '--address', '127.0.0.1', '--until-stdin-ends'];
  return [builder, 'serve', modelId, '--task', task, ...source, ...place, '--json'];
}

function lastLine(stream: NodeJS.ReadableStream, log: (line: string) => void): () => string {
  let last = '';
  createInterface({ input: stream }).on('line', (line) => {
    last = line;
    log(line);
  });
  return () => last.replace(/^builder: /, '');
}

async function stop(child: ReturnType<typeof spawn>, ended: Promise<string>): Promise<void> {
  child.kill('SIGTERM');
  const late = setTimeout(() => killGroup(child.pid), STOP_GRACE_MS);
  await ended;
  clearTimeout(late);
}

function killGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    // Ended meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
