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
import { type Entry, namedEntries } from '../build-file/entries.js';
import { BUILD_FILE } from '../build-file/read.js';
import { type CommandDeps, reportOf, reportOptions } from '../deps.js';
import { firstLine, messageOf } from '../error-message.js';
import { BuilderError } from '../exit.js';
import {
  addOutputOptions,
  addPackingOptions,
  addSourceOptions,
  parseModelIds,
  type OutputFlags,
  type SourceFlags,
} from '../options.js';
import { interruptible } from '../interrupt.js';
import { hasWeights } from '../fetch-weights.js';
import { decideModel } from '../pack/decide-model.js';
import { runTogether } from '../parallel-steps.js';
import type { Report } from '../report.js';
import { columns } from '../table.js';

type FetchFlags = SourceFlags & OutputFlags & { to?: string; verify?: boolean };

const NOTES = `
With --to, the files go to <folder>/<org>/<name>/<commit>/ and the model's description beside it, to <commit>.json.
With the folder mounted at /server/model, an image of that model needs no network at its first start. An image of another
commit, or of another model of the same profile, serves it with -e MODEL_SPEC=/server/model/<org>/<name>/<commit>.json.
An interrupted download is resumed by the next call; files that are present and verified are not fetched again.

Several models, or those of ./slipway.yaml, are downloaded side by side; one that fails leaves the others alone.

Examples:
  builder fetch distilbert/distilbert-base-uncased-finetuned-sst-2-english
  builder fetch org/model --to /media/stick            for a machine without a network
  builder fetch org/model --revision v1.0 --json
  builder fetch org/first org/second --json
  builder fetch org/model --verify                     hash all files again`;

/** An interrupted download releases its lock and keeps its partial files. */
const KEPT = 'what has been downloaded is kept; run it again to continue';

/** `builder fetch`: prints the folder that holds the model's verified files. */
export function fetchCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('fetch')
    .description("Download a model's files and verify them: into the cache, or into a folder to carry away")
    .argument('[models...]', `ids on the hub (default: the models of ./${BUILD_FILE})`, parseModelIds)
    .option(
      '--file <file>',
      'without a model: fetch the models of this build file; with one: which file of GGUF, by its quantisation (Q4_K_M) or its name',
    )
    .option('--to <folder>', 'folder to fill, as images expect it at /server/model', (text) =>
      path.resolve(text),
    )
    .option('--verify', 'hash all files, even those that were verified before')
    .addHelpText('after', NOTES);
  addOutputOptions(addPackingOptions(addSourceOptions(command))).action(
    async (ids: string[] | undefined, flags: FetchFlags) => {
      const entries = await namedEntries(ids ?? [], flags, command);
      const [only] = entries;
      if (only && ids?.length === 1) return fetchOne(only.id, only.flags, deps);
      return fetchMany(entries, flags, deps);
    },
  );
}

async function fetchOne(id: string, flags: FetchFlags, deps: CommandDeps): Promise<void> {
  const report = reportOf(deps, flags);
  const stopped = new AbortController();
  const fetched = await interruptible({ stop: () => stopped.abort(), note: KEPT }, () =>
    fetchModel({ id, flags, report, signal: stopped.signal }, deps),
  );
  report.result(fetched.folder, fetched);
  noteMount(report, flags);
}

/** Downloads run side by side. @throws BuilderError `failure` with the reasons if any failed; the others are fetched then */
async function fetchMany(
  entries: readonly Entry<FetchFlags>[],
  flags: FetchFlags,
  deps: CommandDeps,
): Promise<void> {
  const stopped = new AbortController();
  const jobs = entries.map(({ id, flags: own }) => ({
    name: id,
    run: (report: Report) => fetchModel({ id, flags: own, report, signal: stopped.signal }, deps),
  }));
  const settled = await interruptible({ stop: () => stopped.abort(), note: KEPT }, () =>
    runTogether(jobs, reportOptions(deps, flags)),
  );
  const report = reportOf(deps, flags);
  const rows = settled.map((each, i) => {
    const { id: model } = entries[i]!;
    if (each.status === 'fulfilled') return { state: 'fetched' as const, ...each.value };
    return { model, state: 'failed' as const, reason: messageOf(each.reason) };
  });
  const text = rows.map((row) => [
    row.model,
    row.state,
    row.state === 'failed' ? firstLine(row.reason) : row.folder,
  ]);
  report.result(columns([['MODEL', 'STATE', 'FOLDER'], ...text]), rows);
  const failed = rows.flatMap((row) => (row.state === 'failed' ? [`  ${row.model}: ${row.reason}`] : []));
  if (failed.length > 0)
    throw new BuilderError(
      'failure',
      [`${failed.length} of ${rows.length} models failed:`, ...failed].join('\n'),
    );
  noteMount(report, flags);
}

interface Fetching {
  id: string;
  flags: FetchFlags;
  report: Report;
  signal: AbortSignal;
}

async function fetchModel({ id, flags, report, signal }: Fetching, deps: CommandDeps) {
  const { to, verify } = flags;
  const model = await decideModel({ id, flags, report }, deps);
  const weights = await hasWeights({ id, flags, report, model, to, rehash: verify, signal }, deps);
  const description = to === undefined ? null : await writeDescription(model.spec, to);
  return resultOf(model.spec, weights, description);
}

function noteMount(report: Report, { to }: FetchFlags): void {
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
