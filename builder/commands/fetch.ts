import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import type { ModelSpec } from '../../runtime/core/spec.js';
import { writeError } from '../../runtime/store/errors.js';
import { makeFolder } from '../../runtime/store/make-folder.js';
import { downloadDir } from '../../runtime/store/paths.js';
import { replaceFile } from '../../runtime/store/replace-file.js';
import { formatSpec } from '../../runtime/store/spec-file.js';
import type { Weights } from '../../runtime/store/weights.js';
import { type CommandDeps, reportOf } from '../deps.js';
import {
  addOutputOptions,
  addPackingOptions,
  addSourceOptions,
  parseModelId,
  type OutputFlags,
  type SourceFlags,
} from '../options.js';
import { interruptible } from '../interrupt.js';
import { hasWeights } from '../fetch-weights.js';
import { decideModel } from '../pack/decide-model.js';

type FetchFlags = SourceFlags & OutputFlags & { to?: string; verify?: boolean };

const NOTES = `
With --to, the files go to <folder>/<org>/<name>/<commit>/ and the model's description beside it, to <commit>.json.
With the folder mounted at /server/model, an image of that model needs no network at its first start. An image of another
commit, or of another model of the same profile, serves it with -e MODEL_SPEC=/server/model/<org>/<name>/<commit>.json.
An interrupted download is resumed by the next call; files that are present and verified are not fetched again.

Examples:
  builder fetch distilbert/distilbert-base-uncased-finetuned-sst-2-english
  builder fetch org/model --to /media/stick            for a machine without a network
  builder fetch org/model --revision v1.0 --json
  builder fetch org/model --verify                     hash all files again`;

/** An interrupted download releases its lock and keeps its partial files. */
const KEPT = 'what has been downloaded is kept; run it again to continue';

/** `builder fetch`: prints the folder that holds the model's verified files. */
export function fetchCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('fetch')
    .description("Download a model's files and verify them: into the cache, or into a folder to carry away")
    .argument('<model>', 'id on the hub', parseModelId)
    .option('--to <folder>', 'folder to fill, as images expect it at /server/model', (text) =>
      path.resolve(text),
    )
    .option('--verify', 'hash all files, even those that were verified before')
    .addHelpText('after', NOTES);
  addOutputOptions(addPackingOptions(addSourceOptions(command))).action((id: string, flags: FetchFlags) =>
    fetchFiles(id, flags, deps),
  );
}

async function fetchFiles(id: string, flags: FetchFlags, deps: CommandDeps): Promise<void> {
  const report = reportOf(deps, flags);
  const { to, verify } = flags;
  const model = await decideModel({ id, flags, report }, deps);
  const stopped = new AbortController();
  const weights = await interruptible({ stop: () => stopped.abort(), note: KEPT }, () =>
    hasWeights({ id, flags, report, model, to, rehash: verify, signal: stopped.signal }, deps),
  );
  const description = to === undefined ? null : await writeDescription(model.spec, to);
  report.result(weights.dir, resultOf(model.spec, weights, description));
  if (to !== undefined) report.note(`mount ${to} at /server/model: -v ${to}:/server/model:ro`);
}

/** Writes model.json beside the files of its commit, unless it exists with the same content. */
async function writeDescription(spec: ModelSpec, to: string): Promise<string> {
  const file = `${downloadDir(to, spec)}.json`;
  const text = formatSpec(spec);
  if ((await readFile(file, 'utf8').catch(() => undefined)) === text) return file;
  try {
    await makeFolder(path.dirname(file));
    await replaceFile(file, text);
    return file;
  } catch (error) {
    throw writeError(error, file, 'give another folder with --to');
  }
}

function resultOf(spec: ModelSpec, { dir, receivedBytes }: Weights, description: string | null) {
  return {
    model: spec.id,
    revision: spec.revision,
    commit: spec.commit,
    task: spec.task,
    dtype: spec.dtype,
    folder: dir,
    spec: description,
    files: spec.files,
    bytes: spec.files.reduce((sum, { size }) => sum + size, 0),
    downloadedBytes: receivedBytes,
  };
}
