import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { BuilderError } from './exit.js';

/** Characters of a complaint that errors repeat: its end. */
const MOST_SAID = 500;

export interface OwnProcess {
  packageRoot: string;
  /** Name of a bundle in dist/builder/ (scripts/build.mjs). */
  script: string;
  env: Readonly<Record<string, string>>;
  /** What can't be tried, for the error. */
  subject: string;
  signal?: AbortSignal | undefined;
}

/**
 * Gives a job as JSON to a program in a process of its own, so that open networks leave no memory behind, and reads its answer.
 * @throws BuilderError with what the process said when it fails; the signal's reason
 */
export async function askProcess(
  { packageRoot, script, env, subject, signal }: OwnProcess,
  job: unknown,
): Promise<unknown> {
  const program = path.join(packageRoot, 'dist/builder', script);
  const child = spawn(process.execPath, [program], { env, stdio: 'pipe', signal });
  // One that ends at once closes the pipe; its status says so.
  child.stdin.on('error', () => undefined).end(JSON.stringify(job));
  const [said, complained, [status]] = await Promise.all([
    ...[text(child.stdout), text(child.stderr)],
    once(child, 'close') as Promise<[number | null]>,
  ] as const);
  if (status !== 0)
    throw new BuilderError('failure', `${subject} can't be tried: ${complained.trim().slice(-MOST_SAID)}`);
  return JSON.parse(said);
}
