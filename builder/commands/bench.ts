import { writeFile } from 'node:fs/promises';
import { arch, cpus } from 'node:os';
import path from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { Load } from '../bench/load.js';
import { benchHtml } from '../bench/report-html.js';
import { benchText } from '../bench/report-text.js';
import { type BenchResult, runBench } from '../bench/run.js';
import { openTarget, type Target, type TargetFlags } from '../bench/target.js';
import { type CommandDeps, reportOf } from '../deps.js';
import { BuilderError } from '../exit.js';
import { interruptible } from '../interrupt.js';
import { addOutputOptions, addSourceOptions, type OutputFlags } from '../options.js';
import type { Report } from '../report.js';

type BenchFlags = TargetFlags &
  OutputFlags & {
    concurrency?: number[];
    rate?: number[];
    duration: number;
    requests?: number;
    warmup: number;
    timeout: number;
    against?: string;
    slices: number;
    html?: string;
  };

const NOTES = `
Sends the model's own example, from /status, or the file of --body, or a mixture: the files of several --body, or the lines
of --bodies, in turn, the same for both targets. Texts are streamed where the model does so. An image is
started for the measurement, with a port on 127.0.0.1; a model id is served on this machine as "builder serve" does it.

  closed loop  --concurrency: so many callers, each of which sends when its answer has come
  open loop    --rate: so many a second, whether answers come or not. Times count from when a request was due, so a server
               that stands still delays all requests of that time. Both may be given.

Requests per second are answers within the time; latencies those of all requests that were due in it. The first of equal
requests may fill a cache of the server, which the warm-up hides. Memory is that of the container, or what /status tells
of server and model process. With --against both targets run, and take turns in --slices of each step.

Examples:
  builder bench http://127.0.0.1:8080 --concurrency 1,4,16 --duration 10
  builder bench slipway/org_model:latest --rate 50 --html report.html
  builder bench slipway/org_model:new --against slipway/org_model:latest --json
  builder bench http://127.0.0.1:8080/v1/chat/completions --body chat.json --requests 100
  builder bench slipway/org_model:latest --bodies mixed.jsonl --concurrency 32`;

/** `builder bench`: latencies, throughput, tokens, cold start and memory of one server, or of two by turns. */
export function benchCommand(program: Command, deps: CommandDeps): void {
  const command = program
    .command('bench')
    .description('Measure latencies, throughput, cold start and memory of a server, an image or a model')
    .argument('<image|url|id>', 'model image of this engine, address of a server, or id on the hub')
    .option(
      '--concurrency <numbers>',
      'steps of the closed loop (default: 1,4,16, unless --rate is given)',
      counts,
    )
    .option('--rate <numbers>', 'steps of the open loop, in requests per second', rates)
    .option('--duration <seconds>', 'measured time of each step', seconds, 10)
    .option('--requests <number>', 'measured requests of each step, instead of --duration', count)
    .option('--warmup <seconds>', 'time before, which is not measured', secondsOrNone, 2)
    .option('--timeout <seconds>', 'longest time of a request', seconds, 60)
    .option(
      '--body <file>',
      "body of the requests (default: the model's example); given several times: bodies that are sent in turn",
      repeated,
    )
    .option('--bodies <file>', 'bodies that are sent in turn, as JSON, one in each line')
    .option('--no-stream', 'ask for the whole answer where a text could be streamed')
    .option('--against <image|url|id>', 'second target, which takes turns with the first')
    .option('--slices <number>', 'with --against: turns in each step', count, 5)
    .option('--html <file>', 'also write a report with plots, one file without references')
    .addHelpText('after', NOTES);
  addOutputOptions(addSourceOptions(command)).action((given: string, flags: BenchFlags) =>
    bench(given, flags, deps),
  );
}

async function bench(given: string, flags: BenchFlags, deps: CommandDeps): Promise<void> {
  const report = reportOf(deps, flags);
  const stop = new AbortController();
  const result = await interruptible({ stop: () => stop.abort() }, async () => {
    const targets: Target[] = [];
    try {
      for (const name of [given, ...(flags.against === undefined ? [] : [flags.against])])
        if (!stop.signal.aborted) targets.push(await openTarget(name, { flags, deps, report }));
      return await measure(targets, { flags, report, signal: stop.signal });
    } finally {
      await Promise.all(targets.map(({ close }) => close().catch(() => undefined)));
    }
  });
  if (flags.html !== undefined) await writeReport(flags.html, result, { given, flags, deps });
  report.result(benchText(result), result);
  requireAnswers(result);
}

interface Measuring {
  flags: BenchFlags;
  report: Report;
  signal: AbortSignal;
}

function measure(targets: readonly Target[], { flags, report, signal }: Measuring): Promise<BenchResult> {
  const options = {
    loads: loadsOf(flags),
    durationMs: flags.requests === undefined ? flags.duration * 1000 : undefined,
    ...{ requests: flags.requests, warmupMs: flags.warmup * 1000, timeoutMs: flags.timeout * 1000 },
    ...{ slices: flags.slices, signal },
  };
  return report.step('Measure', (say) => runBench(targets, { ...options, say }));
}

function loadsOf({ concurrency, rate = [] }: BenchFlags): Load[] {
  const steps = concurrency ?? (rate.length > 0 ? [] : [1, 4, 16]);
  return [...steps.map((each) => ({ concurrency: each })), ...rate.map((each) => ({ rate: each }))];
}

interface Written {
  given: string;
  flags: BenchFlags;
  deps: CommandDeps;
}

async function writeReport(
  file: string,
  result: BenchResult,
  { given, flags, deps }: Written,
): Promise<void> {
  const against = flags.against === undefined ? '' : ` --against ${flags.against}`;
  const steps = loadsOf(flags).map((load) => ('rate' in load ? `${load.rate}/s` : load.concurrency));
  const about = {
    command: `builder bench ${given}${against} (${steps.join(', ')})`,
    ...{ version: deps.version, when: new Date() },
    machine: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${arch()}`,
  };
  await writeFile(path.resolve(file), benchHtml(result, about)).catch((error: NodeJS.ErrnoException) => {
    throw new BuilderError('failure', `--html ${file} can't be written (${error.code}): give another file`);
  });
}

/** @throws BuilderError `failure` when a step has no answer at all: there is nothing that was measured */
function requireAnswers({ targets }: BenchResult): void {
  for (const { target, steps } of targets) {
    const empty = steps.find(({ latency }) => latency === null);
    if (empty === undefined) continue;
    const errors = Object.keys(empty.errors).join(', ') || 'none in time';
    throw new BuilderError(
      'failure',
      `${target} has answered no request of a step (${errors}); see the table`,
    );
  }
}

const LARGEST = 1_000_000;

function count(text: string): number {
  if (/^\d{1,7}$/.test(text) && Number(text) >= 1 && Number(text) <= LARGEST) return Number(text);
  throw new InvalidArgumentError(`expected a whole number from 1 to ${LARGEST}`);
}

const MOST_CALLERS = 1024;

function repeated(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}

function counts(text: string): number[] {
  const steps = text.split(',').map(count);
  if (steps.every((each) => each <= MOST_CALLERS)) return steps;
  throw new InvalidArgumentError(`expected numbers up to ${MOST_CALLERS}`);
}

function rates(text: string): number[] {
  return text.split(',').map(seconds);
}

function seconds(text: string): number {
  const value = secondsOrNone(text);
  if (value > 0) return value;
  throw new InvalidArgumentError('expected a number above 0');
}

function secondsOrNone(text: string): number {
  if (/^\d{1,6}(?:\.\d{1,3})?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('expected a number');
}
