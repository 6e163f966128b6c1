import { rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { ModelSpec, RepoFile } from '../../runtime/core/spec.js';
import { NO_TELEMETRY } from '../../runtime/boot/engine-environment.js';
import { writeError } from '../../runtime/store/errors.js';
import { acquireLock } from '../../runtime/store/lock.js';
import { makeFolder } from '../../runtime/store/make-folder.js';
import { checkFile } from '../../runtime/store/manifest.js';
import { replaceFile } from '../../runtime/store/replace-file.js';
import { OWN_PREFIX } from '../../runtime/store/paths.js';
import type { CommandDeps } from '../deps.js';
import { fetchWeights } from '../fetch-weights.js';
import type { ModelPlan } from '../plan/index.js';
import type { MadeFile } from '../plan/gguf/virtual-repository.js';
import type { PackedWeights } from '../plan/own-graphs.js';
import { megabytes } from '../report.js';
import { type DecideOptions, planFor } from '../source.js';
import { exportModel, fetchForExport } from '../export/index.js';
import { measureLoss, refuseLoss } from './loss.js';
import { makeAside } from './make-aside.js';
import { madeFolder, noteFile, verified } from './made-files.js';

/**
 * Plans a model, and makes the file of packed or merged weights that its plan may ask for: all files of the spec have hashes then.
 * @throws Refusal, StoreError; errors of the file system
 */
export async function decideModel(options: DecideOptions, deps: CommandDeps): Promise<ModelPlan> {
  return finishModel(await planFor(options, deps), options, deps);
}

/** The plan with all files made: fetches the checkpoint for that, if need be. */
export async function finishModel(
  model: ModelPlan,
  options: DecideOptions,
  deps: CommandDeps,
): Promise<ModelPlan> {
  const { spec, packedWeights } = model;
  if (model.toExport) return exportModel(model, options, deps);
  if (!packedWeights) return model;
  const { file } = packedWeights.recipe;
  const source = checkpointOf(spec, packedWeights);
  const folder = madeFolder(spec, options, deps);
  const made = await ensurePacked(folder, packedWeights, {
    report: options.report,
    packageRoot: deps.packageRoot,
    checkpoint: () => fetchWeights({ ...options, model: source }, deps),
  });
  for (const file of packedWeights.made ?? []) await keepMade(folder, file);
  const measured = await measureLoss(model, { folder, options, source, deps });
  refuseLoss(model, measured, options.flags);
  const files = spec.files.map((one) => (one.path === file ? made : one));
  const finished: ModelSpec = { ...spec, files, ...measured };
  // Beside the packed weights, so that one folder has all of it.
  await fetchWeights({ ...options, model: { spec: finished } }, deps);
  const formats = model.formats.map((one) => (one === spec ? finished : one));
  return { ...model, spec: finished, formats, packedWeights: undefined };
}

/** Fetches the checkpoint that finishModel would fetch, and makes nothing: several may be fetched at a time. */
export async function fetchCheckpoint(
  model: ModelPlan,
  options: DecideOptions,
  deps: CommandDeps,
): Promise<void> {
  const { spec, packedWeights } = model;
  if (model.toExport) return fetchForExport(model, options, deps);
  if (!packedWeights || (await verified(madeFolder(spec, options, deps), packedWeights.recipe))) return;
  await fetchWeights({ ...options, model: checkpointOf(spec, packedWeights) }, deps);
}

/** The model over the files that its own one is made of. */
function checkpointOf(spec: ModelSpec, { recipe, sources, made = [] }: PackedWeights): { spec: ModelSpec } {
  const names = new Set([recipe.file, ...made.map(({ path }) => path)]);
  const others = spec.files.filter(({ path: name }) => !names.has(name));
  return { spec: { ...spec, files: [...others, ...sources] } };
}

type Making = Pick<DecideOptions, 'report'> &
  Pick<CommandDeps, 'packageRoot'> & {
    /** Folder of the checkpoint. */
    checkpoint(): Promise<string>;
  };

/** The file in the cache, made now if it is not there or was changed. Several processes may ask for it at a time. */
async function ensurePacked(
  folder: string,
  packedWeights: PackedWeights,
  { report, packageRoot, checkpoint }: Making,
): Promise<RepoFile> {
  const { recipe } = packedWeights;
  const known = await verified(folder, recipe);
  if (known) return known;
  const from = await checkpoint();
  await makeFolder(folder);
  const onWait = () => report.note('another process works on this model, waits for it');
  const lock = await acquireLock(path.join(folder, `${OWN_PREFIX}.lock`), { onWait });
  try {
    const meanwhile = await verified(folder, recipe);
    if (meanwhile) return meanwhile;
    return await report.step(`${workOf(recipe)} (${megabytes(recipe.size)})`, async (showDetail) => {
      const target = path.join(folder, recipe.file);
      const part = `${target}.making`;
      try {
        const place = { packageRoot, env: NO_TELEMETRY };
        const sha256 = await makeAside({ target: part, from, recipe }, place, (done) =>
          showDetail(megabytes(done)),
        );
        await lock.confirm();
        await rename(part, target);
        return await noteFile(folder, { path: recipe.file, size: recipe.size, sha256 });
      } catch (error) {
        await rm(part, { force: true });
        throw writeError(error, folder, 'give another folder with --cache');
      }
    });
  } finally {
    await lock.release();
  }
}

function workOf({ bits, parts }: PackedWeights['recipe']): string {
  if (bits) return `Pack the weights to ${bits} bits`;
  if (parts.some(({ tensor }) => tensor.blocks)) return 'Repack the weights';
  return parts.some(({ tensor }) => tensor.merge) ? 'Merge the adapter' : 'Rewrite the weights';
}

/** Writes a file that is made of metadata, where it is not there already. */
async function keepMade(folder: string, { path: name, size, sha256, content }: MadeFile): Promise<void> {
  const file = { path: name, size, sha256 };
  const { state } = await checkFile(folder, file, {});
  if (state === 'valid') return;
  const target = path.join(folder, ...name.split('/'));
  await makeFolder(path.dirname(target));
  await replaceFile(target, content);
  await noteFile(folder, file);
}
