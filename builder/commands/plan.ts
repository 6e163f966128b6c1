import path from 'node:path';
import { availableParallelism, totalmem } from 'node:os';
import { type Command, InvalidArgumentError } from 'commander';
import { totalBytes } from '../../runtime/core/spec.js';
import { type CommandDeps, reportOf } from '../deps.js';
import { hubAddress } from '../../runtime/store/hub-address.js';
import { BuilderError } from '../exit.js';
import {
  addOutputOptions,
  addSourceOptions,
  byteSize,
  modelId,
  type OutputFlags,
  type SourceFlags,
} from '../options.js';
import { cacheOf, decideModel } from '../source.js';
import { cachedFiles } from '../plan/cached.js';
import { defaultWorkers, forecastFormats, LOAD_MACHINE } from '../plan/forecast.js';
import { predictImageSize } from '../plan/image-size.js';
import type { ModelPlan } from '../plan/index.js';
import { judge, type Limit } from '../plan/verdict.js';
import { forecastText } from './plan-text.js';

type PlanFlags = SourceFlags & OutputFlags & { memory?: number; cpus?: number };

const NOTES = `
Exit code 0: it can be served and fits; 3: it can't, or needs more memory than there is, with the way out on stderr.
Memory is that of a container on a CPU while it loads and answers requests of usual size one after the other; many
long ones at a time need more. docs/forecast.md explains every figure, and the fields of --json.

Examples:
  builder plan distilbert/distilbert-base-uncased-finetuned-sst-2-english
  builder plan org/model --memory 2g --cpus 4     would it fit a container of that size?
  builder plan org/model --dtype q8 --json
  builder plan org/model --from ./exported        a local folder instead of the hub`;

/** `builder plan`: what serving a model will take, and whether it can be had here. Fetches no weights. */
export function planCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('plan')
    .description('Say how a model would be served, what that takes, and whether it fits; fetch no weights')
    .argument('<model>', 'id on the hub', modelId)
    .option('--memory <size>', 'memory of the container, e.g. 2g (default: that of this machine)', byteSize)
    .option('--cpus <number>', 'cores of the container (default: those of this machine)', coreCount)
    .addHelpText('after', NOTES);
  addOutputOptions(addSourceOptions(command)).action(async (id: string, flags: PlanFlags) => {
    const report = reportOf(deps, flags);
    const model = await decideModel({ id, flags, report }, deps);
    const forecast = await forecastOf(model, flags, deps);
    report.result(forecastText(forecast), forecast);
    const { fits, text } = forecast.verdict;
    if (!fits) throw new BuilderError('refused', text);
  });
}

/** All that `--json` prints. Bytes are whole numbers, null is "not known". */
export type Forecast = Awaited<ReturnType<typeof forecastOf>>;

async function forecastOf(model: ModelPlan, flags: PlanFlags, deps: CommandDeps) {
  const { spec, reasons, info } = model;
  const cache = cacheOf(flags, deps);
  const formats = forecastFormats(model, defaultWorkers(flags.cpus));
  const [chosen] = formats;
  const [cpu, cuda] = await Promise.all(
    (['cpu', 'cuda'] as const).map((device) => predictImageSize({ spec, device, cache }, deps)),
  );
  return {
    spec,
    reasons,
    parameters: model.parameters ?? null,
    files: { count: spec.files.length, bytes: totalBytes(spec) },
    cached: await cachedFiles(flags.from ?? path.join(cache, 'models'), spec),
    formats,
    license: spec.license ?? null,
    gate: gateOf(info, flags, deps),
    devices: {
      cpu: {
        memory: chosen!.memory,
        loadSeconds: chosen!.loadSeconds,
        loadMachine: LOAD_MACHINE,
        image: cpu!,
      },
      cuda: { memory: null, loadSeconds: null, reason: NO_GPU_FIGURES, image: cuda! },
    },
    verdict: judge(formats, limitOf(flags)),
  };
}

const NO_GPU_FIGURES = 'never measured: no GPU was there to measure on';

function gateOf({ gated, id }: ModelPlan['info'], { hub, from }: PlanFlags, { config }: CommandDeps) {
  if (from !== undefined || !gated) return { gated: false as const };
  const page = `${hubAddress(hub ?? config.endpoint).url}/${id}`;
  return { gated, page, tokenGiven: config.token() !== undefined };
}

function limitOf({ memory }: PlanFlags): Limit {
  return memory === undefined
    ? { bytes: machineMemory(), name: 'this machine' }
    : { bytes: memory, name: 'a container of that size' };
}

/** What there is, or less where this program itself runs in a container with a limit. */
function machineMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

function coreCount(text: string): number {
  const number = Math.ceil(Number(text));
  if (number >= 1 && number <= 4096) return number;
  throw new InvalidArgumentError(`expected a number of cores, e.g. ${availableParallelism()}`);
}
