import { type CommandDeps, reportOf, reportOptions } from '../deps.js';
import { firstLine, messageOf } from '../error-message.js';
import { BuilderError } from '../exit.js';
import { fetchWeights } from '../fetch-weights.js';
import type { OutputFlags } from '../options.js';
import { fetchCheckpoint } from '../pack/decide-model.js';
import { runTogether } from '../parallel-steps.js';
import type { ModelPlan } from '../plan/index.js';
import { combineResults } from '../report.js';
import { columns } from '../table.js';
import { type BuildFlags, type BuildJob, buildOne, type Built, planBuild } from './build-one.js';

/** A model of a build file with all its flags. */
export interface BuildEntry {
  id: string;
  flags: BuildFlags;
}

type Outcome = { id: string } & ({ built: Built } | { reason: string });

/**
 * Reads all models and fetches their files side by side, then builds them one after the other: an engine builds one image
 * as fast as two. Prints a table of what became of each.
 * @throws BuilderError `failure` with the reasons if any model failed; the others are built then
 */
export async function buildMany(
  entries: readonly BuildEntry[],
  flags: OutputFlags & Pick<BuildFlags, 'dryRun' | 'foldersOnly'>,
  deps: CommandDeps,
): Promise<void> {
  // Without an engine nothing is worth fetching.
  if (!flags.dryRun && !flags.foldersOnly) await deps.docker.info();
  const jobs = entries.map(({ id, flags: own }) => ({
    name: id,
    run: (report: BuildJob['report']) => prefetched({ id, flags: own, report }, deps),
  }));
  const planned = await runTogether(jobs, reportOptions(deps, flags));
  const report = reportOf(deps, flags);
  const outcomes: Outcome[] = [];
  for (const [i, entry] of entries.entries())
    outcomes.push(await outcomeOf(planned[i]!, { ...entry, report }, deps));
  report.result(textOf(outcomes, flags.dryRun ?? false), { models: outcomes.map(documentOf) });
  const failed = outcomes.flatMap((outcome) => ('reason' in outcome ? [outcome] : []));
  if (failed.length === 0) return;
  const reasons = failed.map(({ id, reason }) => `  ${id}: ${reason}`);
  throw new BuilderError(
    'failure',
    [`${failed.length} of ${outcomes.length} models failed:`, ...reasons].join('\n'),
  );
}

/** The plan of a model whose files are in the cache now, as far as they are needed here. */
async function prefetched(job: BuildJob, deps: CommandDeps): Promise<ModelPlan> {
  const model = await planBuild(job, deps);
  const { dryRun, bake } = job.flags;
  if (dryRun) return model;
  // Packing takes the memory of a model, so models are packed in turn, later.
  if (model.packedWeights) await fetchCheckpoint(model, job, deps);
  else if (bake) await fetchWeights({ ...job, model }, deps);
  return model;
}

async function outcomeOf(
  planned: PromiseSettledResult<ModelPlan>,
  job: BuildJob,
  deps: CommandDeps,
): Promise<Outcome> {
  const { id } = job;
  if (planned.status === 'rejected') return { id, reason: messageOf(planned.reason) };
  try {
    return { id, built: await buildOne(planned.value, job, deps) };
  } catch (error) {
    return { id, reason: messageOf(error) };
  }
}

/** A table; of a dry run what would be done for each model. */
function textOf(outcomes: readonly Outcome[], dryRun: boolean): string {
  if (dryRun)
    return outcomes
      .map((outcome) => ('built' in outcome ? combineResults(outcome.built.results)[0] : failure(outcome)))
      .join('\n\n');
  const rows = outcomes.flatMap((outcome) => {
    const { id } = outcome;
    if (!('built' in outcome)) return [[id, 'failed', firstLine(outcome.reason)]];
    const { results, state } = outcome.built;
    return results.map(({ text }) => [id, state, text.split('\n').join(' ')]);
  });
  return columns([['MODEL', 'STATE', 'RESULT'], ...rows]);
}

const failure = ({ id, reason }: { id: string; reason: string }): string =>
  `${id}: failed: ${firstLine(reason)}`;

function documentOf(outcome: Outcome): object {
  const { id } = outcome;
  if (!('built' in outcome)) return { model: id, state: 'failed', reason: outcome.reason };
  const { state, results } = outcome.built;
  return { model: id, state, images: results.map(({ document }) => document) };
}
