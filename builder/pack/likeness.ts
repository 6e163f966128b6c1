import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { WrittenGraph } from '../../runtime/core/spec.js';
import { BuilderError } from '../exit.js';

/** A written graph and the folder of its weights. */
export interface ProbedGraph {
  graph: WrittenGraph;
  folder: string;
}

/**
 * How alike two graphs over the same inputs compute, from -1 to 1, found by a process of its own.
 * @returns undefined for graphs that read more than tokens
 * @throws BuilderError with what the process said when it fails
 */
export async function likenessOf(
  one: ProbedGraph,
  other: ProbedGraph,
  { packageRoot, env }: { packageRoot: string; env: Readonly<Record<string, string>> },
): Promise<number | undefined> {
  const script = path.join(packageRoot, 'dist/runtime/engines/compare/main.js');
  const child = spawn(process.execPath, [script], { env, stdio: 'pipe' });
  // One that ends at once closes the pipe; its status says so.
  child.stdin.on('error', () => undefined).end(JSON.stringify([one, other]));
  const [said, complained, [status]] = await Promise.all([
    ...[text(child.stdout), text(child.stderr)],
    once(child, 'close') as Promise<[number | null]>,
  ] as const);
  if (status !== 0)
    throw new BuilderError('failure', `the packed network can't be tried: ${complained.trim()}`);
  return said === '' ? undefined : Number(said);
}
