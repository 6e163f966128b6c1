import path from 'node:path';
import type { Progress } from '../runtime/store/download.js';
import { folderSource } from '../runtime/store/folder.js';
import { ensureWeights, findWeights, type Weights } from '../runtime/store/weights.js';
import type { CommandDeps } from './deps.js';
import type { ModelPlan } from './plan/index.js';
import { megabytes } from './report.js';
import { cacheFolder, type DecideOptions, fileSource } from './source.js';

export interface FetchWeightsOptions extends DecideOptions {
  model: Pick<ModelPlan, 'spec'>;
  /** Folders besides the cache that may hold the files. */
  folders?: readonly string[];
  /** Target folder instead of the cache; files go to `<org>/<name>/<commit>` in it. */
  to?: string | undefined;
  /** Hash every file again. */
  rehash?: boolean | undefined;
  signal?: AbortSignal | undefined;
  /** What is fetched, for messages. */
  what?: string;
}

/** Returns the folder with the verified files of a model; downloads what is missing. */
export async function fetchWeights(options: FetchWeightsOptions, deps: CommandDeps): Promise<string> {
  return (await hasWeights(options, deps)).dir;
}

/** As fetchWeights; with `to`, files in the cache are copied instead of downloaded. */
export async function hasWeights(options: FetchWeightsOptions, deps: CommandDeps): Promise<Weights> {
  const { flags, report, model, folders = [], to, rehash, signal, what = 'files of the model' } = options;
  const cache = path.join(cacheFolder(flags, deps), 'models');
  const { spec } = model;
  const common = { spec, rehash, signal, log: report.note };
  // A local folder is used in place; only files of the hub go to the cache.
  const roots = [...(flags.from === undefined ? [] : [flags.from]), ...folders, cache];
  const localFolder =
    to === undefined ? undefined : await findWeights({ ...common, roots, downloadRoot: cache });
  const weights = await report.step(`Have ${spec.files.length} ${what}`, (showDetail) =>
    ensureWeights({
      ...common,
      roots: to === undefined ? roots : [to],
      downloadRoot: to ?? cache,
      source: () => (localFolder === undefined ? fileSource(flags, deps, spec) : folderSource(localFolder)),
      writeRemedy: `give another folder with ${to === undefined ? '--cache' : '--to'}`,
      onProgress: (progress) => showDetail(progressText(progress)),
    }),
  );
  const fromHub = localFolder === undefined && flags.from === undefined;
  return { ...weights, receivedBytes: fromHub ? weights.receivedBytes : 0 };
}

function progressText({ file, fileBytes, doneBytes, totalBytes }: Progress): string {
  return `${megabytes(doneBytes)} of ${megabytes(totalBytes)} (${file}: ${megabytes(fileBytes)})`;
}
