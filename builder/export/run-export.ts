import { mkdir, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { printable } from '../../runtime/core/printable.js';
import { Refusal } from '../plan/refusal.js';
import { lastLine } from './last-line.js';
import { runLimited } from './sandbox.js';
import { pythonFolder } from './tools.js';
import type { ExportRecipe, ToolVersions } from './types.js';

export interface RunRequest {
  id: string;
  python: string;
  packageRoot: string;
  recipe: ExportRecipe;
  /** Whether operators are put together into ONNX Runtime's own. */
  fusions: boolean;
  /** Folder of the checkpoint, and its files: nothing else is seen. */
  checkpoint: string;
  files: readonly string[];
  /** An empty folder for everything that is written. */
  out: string;
  threads: number;
  memoryBytes: number;
  seconds: number;
  signal?: AbortSignal | undefined;
}

const report = z.object({
  versions: z.record(z.string(), z.string()),
  class: z.string().optional(),
  refused: z.string().optional(),
});

/** Ends of export.py: done; this network can't be exported. */
const [DONE, REFUSED] = [0, 3];

/**
 * Has the exporter write a graph, its weights and probes into a folder.
 * @returns why this network can't be exported, where it can't
 * @throws Refusal when the limits are too small for it; the signal's reason
 */
export async function runExport(
  request: RunRequest,
): Promise<{ versions: ToolVersions } | { problem: string }> {
  const { id, python, packageRoot, out, memoryBytes, seconds, signal } = request;
  const model = path.join(out, 'model');
  await stage(request, model);
  const result = await runLimited({
    command: [python, '-B', path.join(pythonFolder(packageRoot), 'export.py')],
    input: JSON.stringify(jobOf(request, model)),
    env: environment(out),
    folder: out,
    ...{ memoryBytes, seconds, signal },
  });
  if (result.expired)
    throw new Refusal(
      `the export of ${id} was not done after ${seconds} s`,
      'its kind of network needs a writer',
    );
  if (result.status !== DONE && result.status !== REFUSED)
    throw new Refusal(
      `the export of ${id} ended by ${result.signal ?? `status ${result.status}`}: ${lastLine(result.said)}`,
      `it may take ${Math.round(memoryBytes / 1e6)} MB`,
    );
  const { versions, refused } = report.parse(
    JSON.parse(await readFile(path.join(out, 'report.json'), 'utf8')),
  );
  return refused === undefined ? { versions } : { problem: printable(refused) };
}

/** The job as export.py reads it. */
function jobOf({ recipe, fusions, out, threads }: RunRequest, model: string) {
  const inputs = Object.fromEntries(
    Object.entries(recipe.inputs).map(([name, input]) => [name, { optional: false, ...input }]),
  );
  const {
    padding = 'right',
    decoder = false,
    part = '',
    names = {},
    images = [],
    image = {},
    edges = '',
    tiles,
  } = recipe;
  const usual = { padding, decoder, part, names, images, image, edges, tiles: tiles ?? null };
  return { ...recipe, ...usual, ...{ inputs, model, out, fusions, threads } };
}

/** A folder with links to these files alone: no code of the repository, no other weights. */
async function stage({ checkpoint, files }: RunRequest, folder: string): Promise<void> {
  for (const file of files) {
    const target = path.join(folder, ...file.split('/'));
    await mkdir(path.dirname(target), { recursive: true });
    await symlink(path.resolve(checkpoint, ...file.split('/')), target);
  }
}

/** Nothing of this process's own environment but where programs are: no tokens, no settings of Python. */
function environment(out: string): Record<string, string> {
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    ...{ HOME: out, TMPDIR: out, LANG: 'C.UTF-8' },
    ...{ HF_HUB_OFFLINE: '1', TRANSFORMERS_OFFLINE: '1', HF_HUB_DISABLE_TELEMETRY: '1' },
    ...{ TOKENIZERS_PARALLELISM: 'false', TRANSFORMERS_VERBOSITY: 'error', PYTHONHASHSEED: '0' },
    CUDA_VISIBLE_DEVICES: '',
  };
}
