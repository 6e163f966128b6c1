import type { ChildProcess } from 'node:child_process';
import { createOutbox } from '../core/outbox.js';
import { clearScratch } from '../boot/scratch.js';
import { forkEngine } from './fork-engine.js';
import { type OomWatch, watchForOom } from './oom-watch.js';
import type { FromEngine, ToEngine } from './protocol.js';

/** The parent's connection to one engine. */
export interface EngineChannel {
  send(message: ToEngine): void;
  /** Kills the engine at once. `onExit` follows. */
  kill(): void;
  readonly pid: number | undefined;
}

export interface ChannelEvents {
  onMessage(message: FromEngine): void;
  /** Called once, when the engine has ended. */
  onExit(reason: string): void;
}

export type OpenChannel = (events: ChannelEvents) => EngineChannel;

export interface ForkOptions {
  /** Script of the child process. */
  entry: string;
  /** Its whole environment, without keys and tokens. */
  env: NodeJS.ProcessEnv;
  /** A process that was started ahead, for the first engine. */
  first?: (() => ChildProcess | undefined) | undefined;
  /** Receives the child's stdout and stderr, line by line. */
  onOutput(line: string): void;
  /** Called when the child is started. */
  watch?(): OomWatch;
}

/** Runs the engine in a child process, so that a native crash or an out-of-memory kill does not end the server. */
export function forkChannel({ entry, env, first, onOutput, watch = watchForOom }: ForkOptions): OpenChannel {
  let ahead = first;
  return ({ onMessage, onExit }) => {
    const oom = watch();
    const child = ahead?.() ?? forkEngine({ entry, env });
    ahead = undefined;
    child.on('message', (messages) => (messages as FromEngine[]).forEach(onMessage));
    for (const stream of [child.stdout!, child.stderr!]) {
      stream
        .setEncoding('utf8')
        .on('data', (text: string) => text.split('\n').filter(Boolean).forEach(onOutput));
    }
    const outbox = createOutbox((messages: ToEngine[]) => {
      // A message to a dead child can be dropped: its exit fails all runs.
      if (child.connected) child.send(messages, () => {});
    });
    let exited = false;
    const onEnd = (reason: string) => {
      cleanUp();
      process.off('exit', cleanUp);
      if (!exited) onExit(reason);
      exited = true;
    };
    const cleanUp = () => void (child.pid !== undefined && clearScratch(child.pid));
    // When this process exits, the child is killed with it and emits no exit event here.
    process.on('exit', cleanUp);
    child.on('error', (error) => onEnd(`could not be started: ${error.message}`));
    child.on('exit', (code, signal) => {
      const killed = signal === 'SIGKILL' ? oom.cause() : undefined;
      onEnd(killed ?? (signal ? `was ended by ${signal}` : `exited with code ${code}`));
    });
    return {
      pid: child.pid,
      kill: () => void child.kill('SIGKILL'),
      send: outbox.put,
    };
  };
}
