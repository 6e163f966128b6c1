import type { Outcome } from './client.js';
import type { Load, Measured } from './load.js';

/** Milliseconds. */
export interface Spread {
  mean: number;
  p50: number;
  p90: number;
  p95: number;
  p99: number;
  max: number;
}

/** What one load has measured. */
export interface StepResult {
  load: Load;
  seconds: number;
  requests: number;
  /** By status, or code of the network's error. */
  errors: Record<string, number>;
  requestsPerSecond: number;
  /** From when a request was due to the end of its answer; null without an answer. */
  latency: Spread | null;
  /** The same to the first piece of a streamed text. */
  firstToken: Spread | null;
  tokensPerSecond: number | null;
  /** How late requests were sent, p99: a client that is too slow measures itself. */
  lateness: number;
  /** Largest memory of the server meanwhile, in bytes. */
  memoryBytes: number | null;
  /** For plots: latencies at percentiles 0 to 100, and some of the answers by the second of their end. */
  percentiles: number[];
  timeline: [seconds: number, milliseconds: number][];
}

export function summarise(load: Load, runs: readonly Measured[], memoryBytes: number | null): StepResult {
  const outcomes = runs.flatMap((run) => run.outcomes);
  const answers = outcomes.filter(({ ok }) => ok);
  const seconds = sum(runs.map((run) => run.seconds));
  const latencies = sorted(answers.map(({ due, ended }) => ended - due));
  const first = answers.flatMap(({ due, first }) => (first === undefined ? [] : [first - due]));
  const tokens = sum(answers.map(({ tokens = 0 }) => tokens));
  const perAnswer = answers.length === 0 ? 0 : tokens / answers.length;
  const requestsPerSecond = seconds === 0 ? 0 : sum(runs.map(({ answered }) => answered)) / seconds;
  return {
    ...{ load, seconds, requests: outcomes.length, errors: errorsOf(outcomes), requestsPerSecond },
    latency: spreadOf(latencies),
    firstToken: spreadOf(sorted(first)),
    // Of answers within the time, so that it goes with the requests per second.
    tokensPerSecond: tokens === 0 ? null : perAnswer * requestsPerSecond,
    lateness: percentile(sorted(outcomes.map(({ due, sent }) => sent - due)), 99),
    memoryBytes,
    percentiles:
      latencies.length === 0 ? [] : Array.from({ length: 101 }, (_, i) => percentile(latencies, i)),
    timeline: timelineOf(runs),
  };
}

function errorsOf(outcomes: readonly Outcome[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { ok, status } of outcomes) if (!ok) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

function spreadOf(values: readonly number[]): Spread | null {
  if (values.length === 0) return null;
  const at = (percent: number) => percentile(values, percent);
  return {
    mean: sum(values) / values.length,
    p50: at(50),
    p90: at(90),
    p95: at(95),
    p99: at(99),
    max: at(100),
  };
}

/** Nearest rank: a value that was measured. @param values sorted */
export function percentile(values: readonly number[], percent: number): number {
  return values[Math.max(0, Math.ceil((percent / 100) * values.length) - 1)] ?? 0;
}

const MOST_POINTS = 600;

function timelineOf(runs: readonly Measured[]): StepResult['timeline'] {
  let passed = 0;
  const points: StepResult['timeline'] = [];
  for (const { outcomes, from, seconds } of runs) {
    for (const { ok, due, ended } of outcomes)
      if (ok) points.push([passed + (ended - from) / 1000, ended - due]);
    passed += seconds;
  }
  const every = Math.ceil(points.length / MOST_POINTS);
  return points.filter((_, i) => i % every === 0);
}

/** One target over another, from pairs of runs that followed each other. */
export interface Ratio {
  median: number;
  /** Smallest and largest of the pairs. */
  low: number;
  high: number;
}

/** Null where a pair lacks a value. */
export function ratioOf(first: readonly number[], second: readonly number[]): Ratio | null {
  const ratios = sorted(first.map((value, i) => value / second[i]!));
  if (ratios.length === 0 || ratios.some((ratio) => !Number.isFinite(ratio))) return null;
  return { median: percentile(ratios, 50), low: ratios[0]!, high: ratios.at(-1)! };
}

export function sorted(values: readonly number[]): number[] {
  return [...values].sort((a, b) => a - b);
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
