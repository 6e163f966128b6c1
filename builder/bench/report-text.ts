import { megabytes } from '../report.js';
import { columns } from '../table.js';
import { type BenchResult, type Comparison, loadText, type TargetResult } from './run.js';
import type { Ratio, StepResult } from './statistics.js';

/** The result for a terminal. */
export function benchText({ targets, comparisons }: BenchResult): string {
  return [
    ...targets.map(targetText),
    ...(comparisons.length === 0 ? [] : [comparisonText(comparisons)]),
  ].join('\n\n');
}

const HEADING = ['LOAD', 'REQ/S', '', 'P50', 'P95', 'P99', 'TTFT P50', 'TOKENS/S', 'MEMORY', 'ERRORS'];

function targetText({ target, coldStartMs, steps }: TargetResult): string {
  const start = coldStartMs === null ? '' : `, ready ${milliseconds(coldStartMs)} after its start`;
  const most = Math.max(...steps.map(({ requestsPerSecond }) => requestsPerSecond));
  const rows = steps.map((step) => [
    loadText(step.load),
    number(step.requestsPerSecond),
    bar(step.requestsPerSecond / most),
    ...[step.latency?.p50, step.latency?.p95, step.latency?.p99, step.firstToken?.p50].map(milliseconds),
    step.tokensPerSecond === null ? '-' : number(step.tokensPerSecond),
    step.memoryBytes === null ? '-' : megabytes(step.memoryBytes),
    errorsText(step),
  ]);
  const notes = steps.flatMap(notesOn);
  return [`${target}${start}`, columns([HEADING, ...rows]), ...notes].join('\n');
}

/** What spoils a measurement. */
export function notesOn({ load, lateness, latency, requestsPerSecond, requests }: StepResult): string[] {
  const at = loadText(load);
  return [
    ...(requests === 0 || latency === null ? [`${at}: nothing was answered in time; give it longer`] : []),
    ...(latency !== null && lateness > 1 && lateness > latency.p50 / 10
      ? [`${at}: this client sent ${milliseconds(lateness)} late (p99): it is too slow for that load`]
      : []),
    ...('rate' in load && requestsPerSecond < 0.95 * load.rate
      ? [`${at}: the server answered ${number(requestsPerSecond)} a second: requests pile up`]
      : []),
  ];
}

function comparisonText(comparisons: readonly Comparison[]): string {
  const rows = comparisons.map(({ load, requestsPerSecond, p50 }) => [
    loadText(load),
    ratioText(requestsPerSecond),
    ratioText(p50),
  ]);
  return `First over second, median of the slices (smallest to largest)\n${columns([['LOAD', 'REQ/S', 'P50'], ...rows])}`;
}

export function ratioText(ratio: Ratio | null): string {
  if (ratio === null) return '-';
  const { median, low, high } = ratio;
  return `${median.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`;
}

export function errorsText({ errors, requests }: Pick<StepResult, 'errors' | 'requests'>): string {
  const named = Object.entries(errors).map(([status, count]) => `${count} × ${status}`);
  return named.length === 0 ? `none of ${requests}` : `${named.join(', ')} of ${requests}`;
}

const WIDTH = 16;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

function bar(part: number): string {
  const eighths = Number.isFinite(part) ? Math.round(part * WIDTH * 8) : 0;
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]!;
}

export function milliseconds(value: number | undefined): string {
  if (value === undefined) return '-';
  return value < 1000 ? `${value.toFixed(value < 10 ? 2 : 1)} ms` : `${(value / 1000).toFixed(2)} s`;
}

export function number(value: number): string {
  return value < 100 ? value.toFixed(1) : value.toFixed(0);
}
