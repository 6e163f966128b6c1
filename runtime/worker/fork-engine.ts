import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Script of the engine's process: beside the bundle, or in this folder where it is not bundled. */
export const ENGINE_SCRIPT = fileURLToPath(
  new URL(import.meta.url.endsWith('.mjs') ? './child.mjs' : './entry.js', import.meta.url),
);

export interface EngineFork {
  entry: string;
  /** Its whole environment, without keys and tokens. */
  env: NodeJS.ProcessEnv;
  args?: readonly string[];
  /** The user and group that it is to be; this process's if absent. */
  user?: number | undefined;
}

/** V8's helper threads would compete with the sessions' threads for the CPUs (bench/embeddings.mjs: 6 %). */
const NODE_FLAGS = ['--single-threaded-gc'];

/** Starts the engine's process. It says nothing before it is told to load, and ends with this one. */
export const forkEngine = ({ entry, env, args = [], user }: EngineFork): ChildProcess =>
  fork(entry, args, {
    env,
    ...(user !== undefined && { uid: user, gid: user }),
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    execArgv: NODE_FLAGS,
  });
