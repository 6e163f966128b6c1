import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { BuilderError } from '../exit.js';

/** From torch, in parts of the largest number of an output; a text says what can't be compared. */
export type Difference = number | string;

export interface CheckRequest {
  graph: Uint8Array;
  weightsIn: string;
  /** File with inputs and torch's outputs. */
  probes: string;
  packageRoot: string;
  env: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
}

/** Runs a graph in a process of its own. @throws BuilderError with what the process said when it fails */
export async function checkGraph(request: CheckRequest): Promise<Difference> {
  const { graph, weightsIn, probes, packageRoot, env, signal } = request;
  const script = path.join(packageRoot, 'dist/builder/check-export.js');
  const child = spawn(process.execPath, [script], { env, stdio: 'pipe', signal });
  const closed = once(child, 'close') as Promise<[number | null]>;
  const job = { graph: Buffer.from(graph).toString('base64'), weightsIn, probes };
  // One that ends at once closes the pipe; its status says so.
  child.stdin.on('error', () => undefined).end(JSON.stringify(job));
  const [said, complained, [status]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  if (status !== 0)
    throw new BuilderError('failure', `the exported graph can't be tried: ${complained.trim().slice(-500)}`);
  return (JSON.parse(said) as { difference: Difference }).difference;
}
