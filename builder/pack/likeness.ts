import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { WrittenGraph } from '../../runtime/core/spec.js';
import { BuilderError } from '../exit.js';

/** The written graphs of a model, and the folder of their weights. */
export interface ProbedNetwork {
  graphs: readonly WrittenGraph[];
  folder: string;
}

/** Either how alike two networks compute, from -1 to 1, or why that was not measured. */
export type Likeness = { likeness: number } | { unmeasured: string };

/**
 * How alike two networks of the same graphs compute, found by a process of its own.
 * @throws BuilderError with what the process said when it fails
 */
export async function likenessOf(
  plain: ProbedNetwork,
  packed: ProbedNetwork,
  { packageRoot, env }: { packageRoot: string; env: Readonly<Record<string, string>> },
): Promise<Likeness> {
  const script = path.join(packageRoot, 'dist/builder/compare-networks.js');
  const child = spawn(process.execPath, [script], { env, stdio: 'pipe' });
  // One that ends at once closes the pipe; its status says so.
  child.stdin.on('error', () => undefined).end(JSON.stringify([plain, packed]));
  const [said, complained, [status]] = await Promise.all([
    ...[text(child.stdout), text(child.stderr)],
    once(child, 'close') as Promise<[number | null]>,
  ] as const);
  if (status !== 0)
    throw new BuilderError('failure', `the packed network can't be tried: ${complained.trim()}`);
  return JSON.parse(said) as Likeness;
}
