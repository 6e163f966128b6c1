import { availableParallelism } from 'node:os';
import path from 'node:path';
import { acquireLock } from '../../runtime/store/lock.js';
import { makeFolder } from '../../runtime/store/make-folder.js';
import { OWN_PREFIX } from '../../runtime/store/paths.js';
import type { ModelSpec, RepoFile } from '../../runtime/core/spec.js';
import type { CommandDeps } from '../deps.js';
import { fetchWeights } from '../fetch-weights.js';
import { interruptible } from '../interrupt.js';
import { madeFolder, noteFile } from '../pack/made-files.js';
import type { ModelPlan } from '../plan/model-plan.js';
import { cacheFolder, type DecideOptions } from '../source.js';
import { type Exported, keptExport, makeExport, restsOf, summaryOf, withExport } from './make-export.js';
import type { ToExport } from './plan-export.js';
import { ensureTools, type ToolsRequest } from './tools.js';

/** The plan with its graph exported, now or earlier: fetches the checkpoint, and installs the tools if need be. */
export async function exportModel(
  model: ModelPlan,
  options: DecideOptions,
  deps: CommandDeps,
): Promise<ModelPlan> {
  const { spec, toExport } = model;
  const checkpoint = await fetchWeights({ ...options, model: checkpointOf(spec, toExport!) }, deps);
  const folder = madeFolder(spec, options, deps);
  const exported = await ensureExported(toExport!, { folder, checkpoint, spec, options, deps });
  const finished = withExport(spec, exported);
  options.report.note(shareNote(exported));
  if (restsOf(exported).length > 0) await fetchWeights({ ...options, model: { spec: finished } }, deps);
  const formats = model.formats.map((one) => (one === spec ? finished : one));
  return { ...model, spec: finished, formats, toExport: undefined };
}

/** Fetches what exportModel would fetch, and makes nothing. */
export async function fetchForExport(
  { spec, toExport }: ModelPlan,
  options: DecideOptions,
  deps: CommandDeps,
): Promise<void> {
  await fetchWeights({ ...options, model: checkpointOf(spec, toExport!) }, deps);
}

/** The model, and what the exporter reads beside its files: the index of shards. */
function checkpointOf(spec: ModelSpec, { sources }: ToExport): { spec: ModelSpec } {
  const named = new Set(spec.files.map(({ path: name }) => name));
  return {
    spec: { ...spec, files: [...spec.files, ...sources.filter(({ path: name }) => !named.has(name))] },
  };
}

interface Place {
  folder: string;
  checkpoint: string;
  spec: ModelSpec;
  options: DecideOptions;
  deps: CommandDeps;
}

async function ensureExported(toExport: ToExport, place: Place): Promise<Exported> {
  const { folder, options, deps } = place;
  const { report } = options;
  const kept = await keptExport(folder, toExport);
  if (kept) return kept;
  const stop = new AbortController();
  return interruptible({ stop: () => stop.abort() }, async () => {
    const { signal } = stop;
    const python = await report.step('Have the tools for exports', (showDetail) =>
      ensureTools(toolsRequest(options.flags, deps), {
        onInstall: () => showDetail('installs them: about 1 GB'),
        signal,
      }),
    );
    await makeFolder(folder);
    const onWait = () => report.note('another process works on this model, waits for it');
    // Not that of the folder's files, which are fetched while this one is held.
    const lock = await acquireLock(path.join(folder, `${OWN_PREFIX}-exports.lock`), { onWait, signal });
    try {
      const meanwhile = await keptExport(folder, toExport);
      return meanwhile ?? (await exportNow(toExport, { ...place, python, signal }));
    } finally {
      await lock.release();
    }
  });
}

function exportNow(
  toExport: ToExport,
  {
    folder,
    checkpoint,
    spec,
    options,
    deps,
    python,
    signal,
  }: Place & { python: string; signal: AbortSignal },
): Promise<Exported> {
  const besideRest = async (rest: RepoFile): Promise<string> => {
    const lock = await acquireLock(path.join(folder, `${OWN_PREFIX}.lock`), { signal });
    await noteFile(folder, rest).finally(() => lock.release());
    const files = [...checkpointOf(spec, toExport).spec.files, rest];
    return fetchWeights({ ...options, model: { spec: { ...spec, files } } }, deps);
  };
  return options.report.step(`Export the graph of ${spec.id}`, (showDetail) =>
    makeExport({
      ...{ id: spec.id, toExport, folder, checkpoint, python, signal, besideRest },
      packageRoot: deps.packageRoot,
      threads: availableParallelism(),
      onStep: showDetail,
    }),
  );
}

/** What finds the tools. */
export function toolsRequest(flags: DecideOptions['flags'], deps: CommandDeps): ToolsRequest {
  const { config, packageRoot } = deps;
  const { exportPython: python, toolEnvironment: env } = config;
  return { python, cache: cacheFolder(flags, deps), packageRoot, env };
}

function shareNote(exported: Exported): string {
  const {
    shares: { inPlace, transposed, copied },
    difference,
    fusions,
  } = summaryOf(exported);
  const share = (100 * (inPlace + transposed)) / Math.max(1, inPlace + transposed + copied);
  const how = fusions ? '' : ', without fused operators';
  return `exported: ${share.toFixed(share < 99.95 ? 1 : 0)} % of the weights stay in the checkpoint${how}; differs from torch by ${difference.toExponential(1)} of the largest number`;
}
