import { RunError } from '../../runtime/core/errors.js';
import { engineOf } from '../../runtime/core/engines.js';
import type { Entry } from '../build-file/entries.js';
import { type CommandDeps, reportOf, reportOptions } from '../deps.js';
import { firstLine, messageOf } from '../error-message.js';
import { BuilderError } from '../exit.js';
import type { OutputFlags } from '../options.js';
import { runTogether } from '../parallel-steps.js';
import { megabytes } from '../report.js';
import { planFor } from '../source.js';
import { columns } from '../table.js';
import { type Forecast, type ForecastFlags, forecastOf } from './plan-forecast.js';

type Outcome = { id: string } & ({ forecast: Forecast } | { error: unknown });

/**
 * Plans several models side by side, and prints a table of what became of each.
 * @throws BuilderError if any can't be served or does not fit: `refused` where nothing else went wrong, else `failure`
 */
export async function planMany(
  entries: readonly Entry<ForecastFlags>[],
  flags: OutputFlags,
  deps: CommandDeps,
): Promise<void> {
  const jobs = entries.map(({ id, flags: own }) => ({
    name: id,
    run: async (report: ReturnType<typeof reportOf>) =>
      forecastOf(await planFor({ id, flags: own, report }, deps), own, deps),
  }));
  const settled = await runTogether(jobs, reportOptions(deps, flags));
  const outcomes = settled.map((each, i): Outcome => {
    const { id } = entries[i]!;
    return each.status === 'fulfilled' ? { id, forecast: each.value } : { id, error: each.reason };
  });
  reportOf(deps, flags).result(tableOf(outcomes), outcomes.map(documentOf));
  requireAll(outcomes);
}

/** @throws BuilderError with each reason */
function requireAll(outcomes: readonly Outcome[]): void {
  const failed = outcomes.flatMap((outcome) => {
    const reason = reasonOf(outcome);
    return reason === undefined ? [] : [{ outcome, reason }];
  });
  if (failed.length === 0) return;
  const exit = failed.every(({ outcome }) => isRefusal(outcome)) ? 'refused' : 'failure';
  const reasons = failed.map(({ outcome, reason }) => `  ${outcome.id}: ${reason}`);
  const head = `${failed.length} of ${outcomes.length} models can't be served as they are planned:`;
  throw new BuilderError(exit, [head, ...reasons].join('\n'));
}

/** Why a model can't be served here; undefined where it can. */
function reasonOf(outcome: Outcome): string | undefined {
  if ('error' in outcome) return messageOf(outcome.error);
  const { fits, text } = outcome.forecast.verdict;
  return fits ? undefined : text;
}

function isRefusal(outcome: Outcome): boolean {
  if ('forecast' in outcome) return true;
  const { error } = outcome;
  return error instanceof RunError || (error instanceof BuilderError && error.exit === 'refused');
}

function tableOf(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map((outcome) => {
    if ('error' in outcome)
      return [outcome.id, '-', '-', '-', '-', '-', `no: ${firstLine(messageOf(outcome.error))}`];
    const { spec, formats, files, verdict } = outcome.forecast;
    const memory = megabytes(formats[0]!.memory.peakBytes);
    const fits = verdict.fits ? 'yes' : `no: ${verdict.text}`;
    return [
      outcome.id,
      spec.task,
      laneOf(outcome.forecast),
      spec.dtype,
      megabytes(files.bytes),
      memory,
      fits,
    ];
  });
  return columns([['MODEL', 'TASK', 'LANE', 'DTYPE', 'SIZE', 'MEMORY', 'FITS'], ...rows]);
}

/** Where the graph comes from. */
function laneOf({ spec }: Forecast): string {
  if (engineOf(spec.engine).runtime === 'llama') return 'llama.cpp';
  if (spec.exported) return 'exported graph';
  return spec.written ? 'written graph' : 'ONNX of the repository';
}

/** The document of one plan, or why there is none. */
function documentOf(outcome: Outcome): object {
  if ('forecast' in outcome) return { model: outcome.id, state: 'planned', ...outcome.forecast };
  return { model: outcome.id, state: 'failed', reason: messageOf(outcome.error) };
}
