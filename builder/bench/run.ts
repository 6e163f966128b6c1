import { openClient } from './client.js';
import { type Load, type LoadOptions, type Measured, runLoad, MOST_OPEN } from './load.js';
import { percentile, type Ratio, ratioOf, sorted, type StepResult, summarise } from './statistics.js';
import type { Target } from './target.js';

export interface BenchOptions extends Pick<LoadOptions, 'durationMs' | 'requests' | 'warmupMs' | 'signal'> {
  loads: readonly Load[];
  timeoutMs: number;
  /** With two targets: how often they take turns in each step. */
  slices: number;
  say(detail: string): void;
}

export interface TargetResult {
  target: string;
  coldStartMs: number | null;
  /** How many bodies were sent in turn. */
  bodies: number;
  steps: StepResult[];
}

/** First target over second, for each load. */
export interface Comparison {
  load: Load;
  requestsPerSecond: Ratio | null;
  p50: Ratio | null;
}

export interface BenchResult {
  targets: TargetResult[];
  comparisons: Comparison[];
}

/** Measures one target, or two that take turns in every step. */
export async function runBench(targets: readonly Target[], options: BenchOptions): Promise<BenchResult> {
  const results = targets.map(({ name, coldStartMs, request }): TargetResult => ({
    target: name,
    coldStartMs,
    bodies: request.bodies.length,
    steps: [],
  }));
  const comparisons: Comparison[] = [];
  for (const load of options.loads) {
    if (options.signal.aborted) break;
    const turns = await takeTurns(targets, load, options);
    turns.forEach(({ runs, memoryBytes }, i) => results[i]!.steps.push(summarise(load, runs, memoryBytes)));
    if (turns.length === 2) comparisons.push(compare(load, turns[0]!.runs, turns[1]!.runs));
  }
  return { targets: results, comparisons };
}

interface Turns {
  runs: Measured[];
  memoryBytes: number | null;
}

async function takeTurns(targets: readonly Target[], load: Load, options: BenchOptions): Promise<Turns[]> {
  const slices = targets.length > 1 ? options.slices : 1;
  const part = (whole: number | undefined) => (whole === undefined ? undefined : whole / slices);
  const turns = targets.map((): Turns => ({ runs: [], memoryBytes: null }));
  for (let slice = 0; slice < slices; slice++) {
    // A B, B A, A B: what drifts meanwhile disturbs both alike.
    const order = [...targets.keys()];
    for (const i of slice % 2 === 0 ? order : order.toReversed()) {
      options.say(
        `${targets[i]!.name}, ${loadText(load)}${slices > 1 ? `, slice ${slice + 1} of ${slices}` : ''}`,
      );
      const { run, memory } = await measure(targets[i]!, load, {
        ...{ ...options, durationMs: part(options.durationMs), warmupMs: options.warmupMs / slices },
        requests: options.requests === undefined ? undefined : Math.ceil(options.requests / slices),
      });
      turns[i]!.runs.push(run);
      turns[i]!.memoryBytes = Math.max(turns[i]!.memoryBytes ?? 0, memory ?? 0) || null;
    }
  }
  return turns;
}

const LOOK_EVERY_MS = 1000;

/** Runs a load while it looks at the server's memory. */
async function measure(
  target: Target,
  load: Load,
  options: BenchOptions,
): Promise<{ run: Measured; memory: number | null }> {
  const connections = 'rate' in load ? MOST_OPEN : load.concurrency;
  const client = openClient(target.request, { connections, timeoutMs: options.timeoutMs });
  let memory: number | null = null;
  const look = async () => {
    const now = await target.memory().catch(() => null);
    if (now !== null) memory = Math.max(memory ?? 0, now);
  };
  let looking: Promise<void> | undefined;
  const timer = setInterval(() => {
    // One at a time: a busy server is not asked again before it has answered.
    looking ??= look().finally(() => (looking = undefined));
  }, LOOK_EVERY_MS);
  try {
    const run = await runLoad(client, load, options);
    await look();
    return { run, memory };
  } finally {
    clearInterval(timer);
    await looking;
    await client.close();
  }
}

function compare(load: Load, first: readonly Measured[], second: readonly Measured[]): Comparison {
  const rates = (runs: readonly Measured[]) => runs.map(({ answered, seconds }) => answered / seconds);
  const medians = (runs: readonly Measured[]) =>
    runs.map(({ outcomes }) =>
      percentile(sorted(outcomes.filter(({ ok }) => ok).map(({ due, ended }) => ended - due)), 50),
    );
  return {
    load,
    requestsPerSecond: ratioOf(rates(first), rates(second)),
    p50: ratioOf(medians(first), medians(second)),
  };
}

export function loadText(load: Load): string {
  return 'rate' in load ? `${load.rate}/s` : `${load.concurrency} at once`;
}
