import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { randomBytes } from 'node:crypto';
import type { ModelEntry } from '../catalog/entry.js';
import { freePort } from '../../runtime/network/free-port.js';
import { isServerAlive } from './server-status.js';
import type { ServerInstance, Launcher } from './upstream.js';

export interface ProcessOptions {
  /** Path of the builder's main script, whose `serve` command is run. */
  builder: string;
  /** Environment of the servers, without the gateway's own keys. */
  env: NodeJS.ProcessEnv;
  log: (line: string) => void;
}

const STOP_GRACE_MS = 10_000;

/** Runs each model as a process, with the same server as in images. Needs no Docker. */
export function processLauncher(options: ProcessOptions): Launcher {
  return {
    async launch(entry, signal) {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const child = spawn(process.execPath, commandLine(entry, port, options), {
        env: { ...options.env, KEY: randomBytes(16).toString('hex') },
        // Its stdin closes when the gateway ends in any way, and the server then ends, too.
        stdio: ['pipe', 'pipe', 'pipe'],
        // A process group of its own, so that a frozen server is killed with all its children.
        detached: true,
      });
      const ended = once(child, 'exit').then(([code, by]) =>
        by ? `was ended by ${by}` : `ended with code ${code}`,
      );
      const lastStderrLine = lastLine(child.stderr, (line) => options.log(`${entry.modelId}: ${line}`));
      const instance: ServerInstance = {
        url,
        ended,
        isAlive: () => isServerAlive(url),
        stop: () => stop(child, ended),
      };
      const onAbort = () => void instance.stop();
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        // It prints its result when it is ready.
        const outcome = await Promise.race([once(child.stdout, 'data').then(() => 'ready'), ended]);
        if (outcome !== 'ready') throw new Error(lastStderrLine() || outcome);
        child.stdout.resume();
        return instance;
      } finally {
        signal.removeEventListener('abort', onAbort);
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
  const listenFlags = ['--port', String(port), '--address', '127.0.0.1', '--until-stdin-ends'];
  return [builder, 'serve', modelId, '--task', task, ...source, ...listenFlags, '--json'];
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
  const killTimer = setTimeout(() => killGroup(child.pid), STOP_GRACE_MS);
  await ended;
  clearTimeout(killTimer);
}

function killGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    // It has ended already.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
