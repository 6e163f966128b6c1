import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { freePort } from '../../runtime/network/free-port.js';
import type { ModelSpec, RepoFile } from '../../runtime/core/spec.js';

export const ROOT = join(import.meta.dirname, '..', '..');

/** The bundle that images hold; `npm run build` makes it. */
const MAIN = join(ROOT, 'dist', 'image', 'main.mjs');

export interface ServerProcess {
  url: string;
  process: ChildProcess;
  /** All that it has written to stdout and stderr. */
  output(): string;
  ready(): Promise<void>;
  run(body: object, headers?: Record<string, string>): Promise<Response>;
  status(): Promise<Record<string, unknown>>;
  /** Exit code, once it has ended. */
  exited: Promise<number | null>;
  stop(): Promise<number | null>;
}

/** Starts the bundled server as `builder serve` and images do. */
export async function startServer(env: Record<string, string>): Promise<ServerProcess> {
  const port = await freePort();
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env['PATH'],
      TMPDIR: tmpdir(),
      KEY: 'test',
      PORT: String(port),
      DEVICE: 'cpu',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => (output += text.toString()));
  const exited = once(child, 'close').then(([code]) => code as number | null);
  const url = `http://127.0.0.1:${env['PORT'] ?? port}`;
  const json = async (path: string) =>
    (await (await fetch(url + path)).json()) as { output: Record<string, unknown> };
  return {
    url,
    process: child,
    output: () => output,
    exited,
    async ready() {
      await waitFor(async () => {
        if (child.exitCode !== null) throw new Error(`the server ended: ${output}`);
        return (await fetch(`${url}/health`).catch(() => undefined))?.status === 200;
      });
    },
    run: (body, headers) =>
      fetch(`${url}/run`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    status: async () => (await json('/status')).output,
    stop() {
      child.kill('SIGTERM');
      return exited;
    },
  };
}

export async function waitFor(
  condition: () => Promise<boolean> | boolean,
  timeoutMs = 20_000,
): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error('waited in vain');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export { freePort };

/** Every file of a folder in hub layout, as a listing has it. */
export async function repoFiles(dir: string): Promise<RepoFile[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const files = paths
    .filter((path) => !path.endsWith('.slipway.json'))
    .map(async (path) => {
      const content = await readFile(path);
      const sha256 = createHash('sha256').update(content).digest('hex');
      return { path: relative(dir, path), size: content.length, sha256 };
    });
  return (await Promise.all(files)).sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Writes a model.json for a folder whose every file is needed; gives the environment that points to both. */
export async function modelEnv(repo: string, spec: Partial<ModelSpec> & Pick<ModelSpec, 'task'>) {
  const generates = spec.task === 'text-generation' || spec.task === 'chat';
  const full: ModelSpec = {
    ...{ specVersion: 1, id: 'test/model', revision: 'main', commit: 'c'.repeat(40), dtype: 'fp32' },
    engine: generates ? 'generation' : 'transformers',
    profile: spec.task === 'image-classification' ? 'vision' : 'text',
    graphs: { model: 'onnx/model.onnx' },
    files: await repoFiles(repo),
    ...spec,
  };
  const path = join(await mkdtemp(join(tmpdir(), 'slipway-spec-')), 'model.json');
  await writeFile(path, JSON.stringify(full));
  return { MODEL_SPEC: path, MODEL_DIR: repo };
}
