import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';

export interface SandboxRequest {
  /** Program and arguments. */
  command: readonly string[];
  /** One line for its standard input, which stays open as long as this process lives. */
  input: string;
  /** All of its environment. */
  env: Readonly<Record<string, string>>;
  folder: string;
  /** Memory of its own that it may have, in bytes; files that it maps are not counted. */
  memoryBytes: number;
  seconds: number;
  signal?: AbortSignal | undefined;
}

export interface SandboxResult {
  /** Null where a signal ended it. */
  status: number | null;
  signal: NodeJS.Signals | null;
  /** True where its time was up. */
  expired: boolean;
  /** The end of what it wrote to standard error. */
  said: string;
}

const MOST_SAID = 16 * 1024;

/**
 * Runs a program without a network, with limits of memory and time. It and its children are killed when the time is up, when
 * `signal` aborts and when this process ends its input.
 * @throws the signal's reason, once nothing of it runs any more; errors of the start
 */
export async function runLimited(request: SandboxRequest): Promise<SandboxResult> {
  const { command, input, env, folder, memoryBytes, seconds, signal } = request;
  signal?.throwIfAborted();
  const limit = String(Math.ceil(memoryBytes / 1024));
  const limited = ['sh', '-c', 'ulimit -d "$0" && exec "$@"', limit, ...command];
  const [program, ...args] = [...(await withoutNetwork()), ...limited];
  // A group of its own: a signal reaches its children, too.
  const child = spawn(program!, args, {
    cwd: folder,
    env,
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true,
  });
  let said = '';
  let expired = false;
  const kill = () => killGroup(child.pid);
  const timer = setTimeout(() => ((expired = true), kill()), seconds * 1000);
  signal?.addEventListener('abort', kill, { once: true });
  // One that ends at once closes the pipe; its status says so.
  child.stdin.on('error', () => undefined).write(`${input}\n`);
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-MOST_SAID)));
  try {
    const [status, ended] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    signal?.throwIfAborted();
    return { status, signal: ended, expired, said };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', kill);
    // What the program left behind.
    kill();
  }
}

/** Of a process that leads a group; one that has gone is none. */
function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Ways to start a program without a network, for root and for others; not every machine has one. */
const WAYS = [
  ['unshare', '--net', '--'],
  ['unshare', '--user', '--map-root-user', '--net', '--'],
] as const;

let found: Promise<readonly string[]> | undefined;

/** What is put before a command; nothing where this machine takes no network away. */
export function withoutNetwork(): Promise<readonly string[]> {
  found ??= firstOf(WAYS);
  return found;
}

async function firstOf(ways: readonly (readonly string[])[]): Promise<readonly string[]> {
  for (const [program, ...args] of ways)
    if (await succeeds(program!, [...args, 'true'])) return [program!, ...args];
  return [];
}

function succeeds(program: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(program, [...args], (error) => resolve(!error));
  });
}
