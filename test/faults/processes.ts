import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface Job {
  spec: unknown;
  root: string;
  endpoint: string;
  tuning: object;
  /** `stallMs` and `firstByteMs` of the hub's client. */
  patience: object;
}

/** How a job ended; `dead` when its process was killed. */
export type Outcome =
  | { ok: true; receivedBytes: number }
  | { ok: false; name: string; kind?: string; message: string; stack: string }
  | 'dead';

export interface Worker {
  /** False once it has been killed, also while it does not know yet. */
  readonly usable: boolean;
  run(job: Job): Promise<Outcome>;
  signal(signal: NodeJS.Signals): void;
}

export interface Pool {
  /** A process that is up and waits for a job. */
  take(): Promise<Worker>;
  /** Makes a worker that is still alive available again. */
  give(worker: Worker): void;
  close(): Promise<void>;
}

/** Processes to download with. One that was not killed is used again, since each takes a while to start. */
export function openPool(): Pool {
  const idle: Promise<Worker>[] = [];
  const children: ChildProcess[] = [];
  const spare = () => {
    const child = fork(join(import.meta.dirname, 'child.mjs'), { execArgv: [] });
    children.push(child);
    return once(child, 'message').then(() => workerOf(child));
  };
  idle.push(spare());
  return {
    take() {
      if (idle.length < 2) idle.push(spare());
      return idle.shift()!;
    },
    give(worker) {
      if (worker.usable) idle.unshift(Promise.resolve(worker));
    },
    async close() {
      await Promise.all(children.map(end));
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

function workerOf(child: ChildProcess): Worker {
  let usable = true;
  child.once('exit', () => (usable = false));
  return {
    get usable() {
      return usable;
    },
    async run(job) {
      const outcome = new Promise<Outcome>((resolve) => {
        const dead = () => resolve('dead');
        child.once('exit', dead);
        child.once('message', (message) => {
          child.removeListener('exit', dead);
          resolve(message as Outcome);
        });
      });
      if (!child.connected) return 'dead';
      child.send(job);
      return outcome;
    },
    signal(signal) {
      if (signal === 'SIGKILL') usable = false;
      child.kill(signal);
    },
  };
}
