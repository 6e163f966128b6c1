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
  /** Folders in which the files may lie beside the cache. */
  places?: readonly string[];
  /** Folder under which the files go to `<org>/<name>/<commit>`, in place of the cache. */
  to?: string | undefined;
  /** Reads every file once more, whatever is known of it. */
  rehash?: boolean | undefined;
  signal?: AbortSignal | undefined;
  /** What is fetched, for people. */
  what?: string;
}

/** Folder with the verified files of a model; downloads what the cache lacks. */
export async function fetchWeights(options: FetchWeightsOptions, deps: CommandDeps): Promise<string> {
  return (await hasWeights(options, deps)).dir;
}

/** As fetchWeights; with `to`, what the cache holds is copied rather than downloaded. */
export async function hasWeights(options: FetchWeightsOptions, deps: CommandDeps): Promise<Weights> {
  const { flags, report, model, places = [], to, rehash, signal, what = 'files of the model' } = options;
  const cache = path.join(cacheFolder(flags, deps), 'models');
  const { spec } = model;
  const common = { spec, rehash, signal, log: report.note };
  // A local folder is used where it is; only what the hub gives is kept in the cache.
  const roots = [...(flags.from === undefined ? [] : [flags.from]), ...places, cache];
  const here = to === undefined ? undefined : await findWeights({ ...common, roots, downloadRoot: cache });
  const weights = await report.step(`Have ${spec.files.length} ${what}`, (say) =>
    ensureWeights({
      ...common,
      roots: to === undefined ? roots : [to],
      downloadRoot: to ?? cache,
      source: () => (here === undefined ? fileSource(flags, deps) : folderSource(here)),
      writeRemedy: `give another folder with ${to === undefined ? '--cache' : '--to'}`,
      onProgress: (progress) => say(progressText(progress)),
    }),
  );
  const fromHub = here === undefined && flags.from === undefined;
  return { ...weights, receivedBytes: fromHub ? weights.receivedBytes : 0 };
}

function progressText({ file, fileBytes, doneBytes, totalBytes }: Progress): string {
  return `${megabytes(doneBytes)} of ${megabytes(totalBytes)} (${file}: ${megabytes(fileBytes)})`;
}
