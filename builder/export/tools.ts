import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { acquireLock } from '../../runtime/store/lock.js';
import { makeFolder } from '../../runtime/store/make-folder.js';
import { BuilderError } from '../exit.js';
import { lastLine } from './last-line.js';
import { PINNED } from './versions.js';

export interface ToolsRequest {
  /** A Python that has them (SLIPWAY_EXPORT_PYTHON). */
  python?: string | undefined;
  cache: string;
  packageRoot: string;
  /** For the installation: proxies and the settings of pip. */
  env: NodeJS.ProcessEnv;
}

/** Folder of the Python program and its requirements. */
export const pythonFolder = (packageRoot: string): string => path.join(packageRoot, 'builder/export/python');

const requirementsOf = (packageRoot: string): string =>
  path.join(pythonFolder(packageRoot), 'requirements.txt');

export type ToolState = { python: string; from: string } | { problem: string; remedy: string };

const NOT_INSTALLED = 'not installed';
const INSTALL = 'the first export installs the tools (about 1 GB) with python3 -m venv and pip';

/** What there is, without changing anything. */
export async function findTools(request: ToolsRequest): Promise<ToolState> {
  const { python, packageRoot } = request;
  if (python !== undefined) return checked(python, packageRoot);
  if (!existsSync(requirementsOf(packageRoot)))
    return { problem: 'this installation lacks its requirements', remedy: 'install it again' };
  const folder = await environmentOf(request);
  if (existsSync(path.join(folder, COMPLETE))) return { python: pythonIn(folder), from: folder };
  const version = await run('python3', ['--version']).catch(() => undefined);
  if (version === undefined)
    return {
      problem: 'no python3',
      remedy: 'install Python 3.11 or newer, or name one in SLIPWAY_EXPORT_PYTHON',
    };
  return { problem: NOT_INSTALLED, remedy: INSTALL };
}

const LIST =
  'import importlib.metadata as m, json, sys\n' +
  'def v(n):\n try: return m.version(n).partition("+")[0]\n except Exception: return None\n' +
  'print(json.dumps({n: v(n) for n in sys.argv[1:]}))';

/** A Python of the operator's own has exactly the pinned versions. */
async function checked(python: string, packageRoot: string): Promise<ToolState> {
  const remedy = `install ${requirementsOf(packageRoot)} into it, or unset SLIPWAY_EXPORT_PYTHON`;
  let found: Record<string, string | null>;
  try {
    found = JSON.parse(await run(python, ['-c', LIST, ...Object.keys(PINNED)])) as Record<
      string,
      string | null
    >;
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? 'it fails';
    return { problem: `SLIPWAY_EXPORT_PYTHON: ${python} can't be run (${why})`, remedy };
  }
  const other = Object.entries(PINNED).find(([name, version]) => found[name] !== version);
  if (!other) return { python, from: python };
  const [name, version] = other;
  return {
    problem: `SLIPWAY_EXPORT_PYTHON has ${name} ${found[name] ?? 'not at all'}, not ${version}`,
    remedy,
  };
}

/** A Python with the tools; installs them below the cache where none is named and they are not there yet. */
export async function ensureTools(
  request: ToolsRequest,
  { onInstall, signal }: { onInstall(): void; signal?: AbortSignal | undefined },
): Promise<string> {
  const state = await findTools(request);
  if ('python' in state) return state.python;
  if (request.python !== undefined || state.problem !== NOT_INSTALLED)
    throw new BuilderError('failure', `the tools for exports are missing: ${state.problem}; ${state.remedy}`);
  const folder = await environmentOf(request);
  await makeFolder(folder);
  const lock = await acquireLock(path.join(path.dirname(folder), 'tools.lock'), { onWait: () => undefined });
  try {
    if (!existsSync(path.join(folder, COMPLETE))) {
      onInstall();
      await install(folder, request, signal);
    }
    return pythonIn(folder);
  } finally {
    await lock.release();
  }
}

const COMPLETE = '.complete';
const pythonIn = (folder: string): string => path.join(folder, 'bin/python');

/** Other requirements are another environment. */
async function environmentOf({ cache, packageRoot }: ToolsRequest): Promise<string> {
  const requirements = await readFile(requirementsOf(packageRoot));
  const digest = createHash('sha256').update(requirements).digest('hex').slice(0, 12);
  return path.join(cache, 'export-tools', digest);
}

async function install(
  folder: string,
  { packageRoot, env }: ToolsRequest,
  signal: AbortSignal | undefined,
): Promise<void> {
  const options = { env, signal };
  try {
    await run('python3', ['-m', 'venv', '--clear', folder], options);
    const quiet = [
      '--disable-pip-version-check',
      '--no-input',
      '--quiet',
      '--no-deps',
      '--only-binary',
      ':all:',
    ];
    await run(
      pythonIn(folder),
      ['-m', 'pip', 'install', ...quiet, '-r', requirementsOf(packageRoot)],
      options,
    );
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    signal?.throwIfAborted();
    const said = lastLine((error as { stderr?: string }).stderr ?? (error as Error).message);
    throw new BuilderError(
      'failure',
      `the tools for exports can't be installed: ${said}; pip needs its index, or PIP_INDEX_URL; ` +
        `or name a Python with ${requirementsOf(packageRoot)} installed in SLIPWAY_EXPORT_PYTHON`,
    );
  }
  await writeFile(path.join(folder, COMPLETE), '');
}

function run(
  program: string,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; signal?: AbortSignal | undefined } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, [...args], { ...options, maxBuffer: 2 ** 24 }, (error, stdout, stderr) =>
      error ? reject(Object.assign(error, { stderr })) : resolve(stdout),
    );
  });
}
