import { availableParallelism } from 'node:os';
import { type Command, InvalidArgumentError } from 'commander';
import { type CommandDeps, reportOf } from '../deps.js';
import { namedEntries } from '../build-file/entries.js';
import { BUILD_FILE } from '../build-file/read.js';
import { BuilderError } from '../exit.js';
import {
  addOutputOptions,
  addSourceOptions,
  parseByteSize,
  parseModelIds,
  type OutputFlags,
} from '../options.js';
import { planFor } from '../source.js';
import { type ForecastFlags, forecastOf } from './plan-forecast.js';
import { planMany } from './plan-many.js';
import { forecastText } from './plan-text.js';

type PlanFlags = ForecastFlags & OutputFlags;

const NOTES = `
Exit code 0: the model can be served and fits; 3: it can't be served, or needs more memory, with a remedy on stderr.
Memory is that of a container on a CPU while it loads and answers requests of usual size one after the other; many long
requests at the same time need more. docs/forecast.md explains every figure and the fields of --json.

Several models, or those of ./slipway.yaml, are a table, and with --json an array in their order. One that can't be served
says so in its row, and leaves the others alone; exit code 3 then, or 1 where the reason is not the model.

Examples:
  builder plan distilbert/distilbert-base-uncased-finetuned-sst-2-english
  builder plan org/model --memory 2g --cpus 4     would it fit a container of that size?
  builder plan org/model --dtype q8 --json
  builder plan org/first org/second --memory 2g   a table of several models
  builder plan org/model --from ./exported        a local folder instead of the hub`;

/** `builder plan`: predicts what serving a model takes, and whether it fits. Fetches no weights. */
export function planCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('plan')
    .description(
      'Predict how a model would be served, what that takes, and whether it fits; fetches no weights',
    )
    .argument('[models...]', `ids on the hub (default: the models of ./${BUILD_FILE})`, parseModelIds)
    .option(
      '--file <file>',
      'without a model: plan the models of this build file; with one: which file of GGUF, by its quantisation (Q4_K_M) or its name',
    )
    .option(
      '--memory <size>',
      'memory of the container, e.g. 2g (default: that of this machine)',
      parseByteSize,
    )
    .option('--cpus <number>', 'cores of the container (default: those of this machine)', coreCount)
    .addHelpText('after', NOTES);
  addOutputOptions(addSourceOptions(command)).action(async (ids: string[] | undefined, flags: PlanFlags) => {
    const entries = await namedEntries(ids ?? [], flags, command);
    const [only, ...others] = entries;
    if (only && ids?.length === 1 && others.length === 0) return planOne(only.id, only.flags, deps);
    return planMany(entries, flags, deps);
  });
}

async function planOne(id: string, flags: PlanFlags, deps: CommandDeps): Promise<void> {
  const report = reportOf(deps, flags);
  const model = await planFor({ id, flags, report }, deps);
  const forecast = await forecastOf(model, flags, deps);
  report.result(forecastText(forecast), forecast);
  const { fits, text } = forecast.verdict;
  if (!fits) throw new BuilderError('refused', text);
}

function coreCount(text: string): number {
  const number = Math.ceil(Number(text));
  if (number >= 1 && number <= 4096) return number;
  throw new InvalidArgumentError(`expected a number of cores, e.g. ${availableParallelism()}`);
}
