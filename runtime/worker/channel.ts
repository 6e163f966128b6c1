import { fork } from 'node:child_process';
import { createOutbox } from '../core/outbox.js';
import { clearScratch } from '../scratch.js';
import { type OomWatch, watchForOom } from './oom-watch.js';
import type { FromEngine, ToEngine } from './protocol.js';

/** One engine's life, as its parent sees it. */
export interface EngineChannel {
  send(message: ToEngine): void;
  /** Ends the engine at once, whatever it is doing. `onExit` follows. */
  kill(): void;
  readonly pid: number | undefined;
}

export interface ChannelEvents {
  onMessage(message: FromEngine): void;
  /** Called once, when the engine is gone. */
  onExit(reason: string): void;
}

export type OpenChannel = (events: ChannelEvents) => EngineChannel;

export interface ForkOptions {
  /** Script of the child process. */
  entry: string;
  /** Its whole environment: no KEY, no token. */
  env: NodeJS.ProcessEnv;
  /** Takes the child's own output, line by line. */
  onOutput(line: string): void;
  /** Asked when the child is started. */
  watch?(): OomWatch;
}

/** The processors are the sessions': V8's helper threads would take turns with them (bench/embeddings.mjs: 6 %). */
const NODE_FLAGS = ['--single-threaded-gc'];

/** An engine in a process of its own: a native crash or an out-of-memory kill there leaves the server up. */
export function forkChannel({ entry, env, onOutput, watch = watchForOom }: ForkOptions): OpenChannel {
  return ({ onMessage, onExit }) => {
    const oom = watch();
    const child = fork(entry, [], {
      env,
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      execArgv: NODE_FLAGS,
    });
    child.on('message', (messages) => (messages as FromEngine[]).forEach(onMessage));
    for (const stream of [child.stdout!, child.stderr!]) {
      stream
        .setEncoding('utf8')
        .on('data', (text: string) => text.split('\n').filter(Boolean).forEach(onOutput));
    }
    const outbox = createOutbox((messages: ToEngine[]) => {
      // A message to a child that has just died is not lost: its exit fails every run.
      if (child.connected) child.send(messages, () => {});
    });
    let gone = false;
    const exit = (reason: string) => {
      tidy();
      process.off('exit', tidy);
      if (!gone) onExit(reason);
      gone = true;
    };
    const tidy = () => void (child.pid !== undefined && clearScratch(child.pid));
    // It is killed with this process, and its exit is not told any more.
    process.on('exit', tidy);
    child.on('error', (error) => exit(`could not be started: ${error.message}`));
    child.on('exit', (code, signal) => {
      const killed = signal === 'SIGKILL' ? oom.cause() : undefined;
      exit(killed ?? (signal ? `was ended by ${signal}` : `exited with code ${code}`));
    });
    return {
      pid: child.pid,
      kill: () => void child.kill('SIGKILL'),
      send: outbox.put,
    };
  };
}
