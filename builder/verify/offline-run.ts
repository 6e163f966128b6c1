import { setTimeout as sleep } from 'node:timers/promises';
import type { Docker } from '../docker/docker.js';
import type { IsolatedContainer } from '../docker/isolated.js';
import { BuilderError } from '../exit.js';
import { interruptible } from '../interrupt.js';
import type { Golden } from '../seal/golden.js';
import { cpuInside, type InsideAnswer, runInside, waitUntilReadyInside } from '../seal/inside.js';
import { type NetworkAttempts, readAttempts, totalAttempts } from './counters.js';
import { recorderOptions, targetsIn } from './recorder.js';

export interface OfflineOptions {
  /** Name or id on the engine. */
  image: string;
  /** Environment of the image. */
  env: readonly string[];
  golden: Golden;
  say: (detail: string) => void;
}

/** Result of a run without a network. */
export interface OfflineRun {
  /** The answer to the golden request, or the error. */
  answer: InsideAnswer | BuilderError;
  /** Undefined if the container had ended. */
  attempts: NetworkAttempts | undefined;
  /** Targets of the attempts, if a second run shows them. */
  targets: string[];
  /** CPU of the engine's machine. */
  cpu: string;
}

/** Time for network attempts that follow an answer. */
const SETTLE_MS = 500;

/** Runs the image as operators do; if attempts were counted, runs it again to find their targets. */
export async function runOffline(docker: Docker, options: OfflineOptions): Promise<OfflineRun> {
  const run = await runOnce(docker, options, {});
  if (run.attempts === undefined || totalAttempts(run.attempts) === 0) return { ...run, targets: [] };
  options.say('attempts were counted; runs again to see where they lead');
  const again = await runOnce(docker, options, { NODE_OPTIONS: recorderOptions(options.env) });
  return { ...run, targets: targetsIn(again.log, portOf(options.env)) };
}

interface Run extends Omit<OfflineRun, 'targets'> {
  log: string;
}

async function runOnce(docker: Docker, options: OfflineOptions, env: Record<string, string>): Promise<Run> {
  let log = '';
  const onOutput = (text: string) => {
    log = (log + text).slice(-LONGEST_LOG);
    options.say(text.trimEnd());
  };
  // Any KEY will do; nothing else of this environment is passed on.
  const container = await docker.startIsolated({
    image: options.image,
    env: { KEY: 'any', LOG_FORMAT: 'text', ...env },
    onOutput,
  });
  const answer = () => goldenAnswer(container, options).catch(expected);
  return interruptible({ stop: container.remove }, async () => {
    try {
      const found = await answer();
      await sleep(SETTLE_MS);
      const attempts = await readAttempts(container).catch(expected);
      const ended = attempts instanceof BuilderError;
      return {
        answer: found,
        attempts: ended ? undefined : attempts,
        cpu: ended ? '' : await cpuInside(container),
        log,
      };
    } finally {
      await container.remove();
    }
  });
}

const LONGEST_LOG = 2 ** 20;

/** The failure of a container is a result; other errors are thrown on. */
function expected(error: unknown): BuilderError {
  if (error instanceof BuilderError && error.exit === 'failure') return error;
  throw error;
}

async function goldenAnswer(
  container: IsolatedContainer,
  { env, golden }: OfflineOptions,
): Promise<InsideAnswer> {
  await waitUntilListening(container, portOf(env));
  await waitUntilReadyInside(container);
  return runInside(container, golden.request);
}

/** The port that an image's server listens on. */
export function portOf(env: readonly string[]): number {
  return Number(env.find((line) => line.startsWith('PORT='))?.slice('PORT='.length) || 80);
}

/** Script that runs inside: looks for a listening socket in the kernel's tables. */
const LISTEN = `
const port = ':' + Number(process.argv.at(-1)).toString(16).toUpperCase().padStart(4, '0');
const listens = (file) => { try { return fs.readFileSync('/proc/net/' + file, 'utf8').split('\\n').some((line) => {
  const [, local, , state] = line.trim().split(/\\s+/); return state === '0A' && local.endsWith(port); }); } catch { return false; } };
setInterval(() => (listens('tcp') || listens('tcp6')) && process.exit(0), 100);
setTimeout(() => process.exit(1), 60_000);
`;

/** Waits without connecting, since a refused connect would count as an attempt of the image. */
export async function waitUntilListening(container: IsolatedContainer, port: number): Promise<void> {
  const command = ['node', '--eval', LISTEN, '--', String(port)];
  const { code } = await container.exec(command, { env: { NODE_OPTIONS: '' } });
  if (code === 0) return;
  const ended = await Promise.race([container.wait(), sleep(SETTLE_MS)]);
  const what = ended === undefined ? `does not listen on port ${port}` : `ended with status ${ended}`;
  throw new BuilderError('failure', `the container ${what}; see its output above`);
}
