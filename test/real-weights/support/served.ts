import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TaskId } from '../../../runtime/core/task-ids.js';
import { freePort, ROOT, waitFor } from '../../fakes/server.js';

export interface Served {
  /** What `POST /run` puts out. @throws Error with what it says instead */
  run(input: object): Promise<unknown>;
  /** Bytes of the file that was packed; undefined where none was. */
  packed: number | undefined;
  stop(): Promise<void>;
}

export interface Checkpoint {
  /** Folder of its files. */
  dir: string;
  task: TaskId;
  /** Of files of GGUF. */
  engine?: 'own' | 'llama';
}

/** `builder serve` over a checkpoint, which packs it first where a format is asked for. */
export async function serveCheckpoint(
  { dir, task, engine }: Checkpoint,
  dtype?: 'q8' | 'q6' | 'q5' | 'q4',
): Promise<Served> {
  const [port, folder] = [await freePort(), await mkdtemp(join(tmpdir(), 'real-weights-'))];
  const format = dtype === undefined ? [] : ['--dtype', dtype, '--weights', 'own'];
  const place = ['--from', dir, '--cache', folder, '--port', String(port)];
  const args = [
    join(ROOT, 'dist/builder/main.js'),
    'serve',
    'real/weights',
    '--task',
    task,
    ...place,
    ...format,
    ...(engine ? ['--engine', engine] : []),
  ];
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'], HOME: folder, TMPDIR: tmpdir() },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await ready(child);
  return {
    run: (input) => run(`http://127.0.0.1:${port}/run`, input),
    packed: await sizeOfPacked(folder),
    async stop() {
      const closed = once(child, 'close');
      child.kill('SIGTERM');
      await closed;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** It prints its address when it answers. */
async function ready(child: ChildProcess): Promise<void> {
  let [stdout, stderr] = ['', ''];
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = once(child, 'close').then(() => {
    throw new Error(`the server has ended: ${stderr}`);
  });
  ended.catch(() => undefined);
  await Promise.race([waitFor(() => stdout !== '', 240_000), ended]);
}

async function run(address: string, input: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(address, { method: 'POST', headers, body: JSON.stringify({ input }) });
  const { output, error } = (await response.json()) as { output: unknown; error: string | null };
  if (error !== null) throw new Error(error);
  return output;
}

async function sizeOfPacked(folder: string): Promise<number | undefined> {
  const files = await readdir(folder, { recursive: true });
  const made = files.find((name) => /slipway-[^/]+\.bin$/.test(name));
  return made === undefined ? undefined : (await stat(join(folder, made))).size;
}
