import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
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
  signal?: AbortSignal | undefined;
}

/** Starts one of the builder's other programs; what it takes of memory goes with it. */
export function startProcess({
  packageRoot,
  script,
  env,
  signal,
}: OwnProcess): ChildProcessWithoutNullStreams {
  const program = path.join(packageRoot, 'dist/builder', script);
  const child = spawn(process.execPath, [program], { env, stdio: 'pipe', signal });
  // One that ends at once closes the pipe; its status says so.
  child.stdin.on('error', () => undefined);
  return child;
}

/** The end of what a process complained of, in an error. */
export const complaint = (text: string): string => text.trim().slice(-MOST_SAID);

/**
 * Gives a job as JSON to a program in a process of its own, so that open networks leave no memory behind, and reads its answer.
 * @param subject what can't be tried, for the error
 * @throws BuilderError with what the process said when it fails; the signal's reason
 */
export async function askProcess(
  { subject, ...own }: OwnProcess & { subject: string },
  job: unknown,
): Promise<unknown> {
  const child = startProcess(own);
  child.stdin.end(JSON.stringify(job));
  const [said, complained, [status]] = await Promise.all([
    ...[text(child.stdout), text(child.stderr)],
    once(child, 'close') as Promise<[number | null]>,
  ] as const);
  if (status !== 0) throw new BuilderError('failure', `${subject} can't be tried: ${complaint(complained)}`);
  return JSON.parse(said);
}
