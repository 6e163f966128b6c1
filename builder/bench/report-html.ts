import { type BenchResult, type Comparison, loadText, type TargetResult } from './run.js';
import { bars, lines, points, type Series } from './plots.js';
import { errorsText, milliseconds, number, notesOn, ratioText } from './report-text.js';
import { megabytes } from '../report.js';
import { escapeHtml as e } from './escape.js';

export interface ReportAbout {
  /** The command line that made it. */
  command: string;
  version: string;
  when: Date;
  /** Where the client ran. */
  machine: string;
}

/** One page that refers to nothing outside of it; it has no script, and its policy allows none. */
export function benchHtml(result: BenchResult, about: ReportAbout): string {
  const { targets, comparisons } = result;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>builder bench: ${e(targets.map(({ target }) => target).join(' and '))}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${e(targets.map(({ target }) => target).join(' and '))}</h1>
<p><code>${e(about.command)}</code></p>
<p>${e(about.when.toISOString())}, builder ${e(about.version)}, on ${e(about.machine)}</p>
${targets.map(targetSection).join('\n')}
${comparisons.length === 0 ? '' : comparisonSection(comparisons)}
<h2>Requests per second</h2>
${bars(targets.flatMap((each) => each.steps.map((step) => ({ name: labelOf(each, step.load, targets), value: step.requestsPerSecond }))))}
<h2>Latency by percentile</h2>
${lines(
  seriesOf(targets, (step) => step.percentiles.map((value, i) => [i, value])),
  { x: 'percentile', y: 'ms' },
)}
<h2>Latency over time</h2>
${points(
  seriesOf(targets, (step) => step.timeline),
  { x: 'seconds', y: 'ms' },
)}
</body>
</html>
`;
}

type Step = TargetResult['steps'][number];

function seriesOf(targets: readonly TargetResult[], of: (step: Step) => [number, number][]): Series[] {
  return targets.flatMap((each) =>
    each.steps.map((step) => ({ name: labelOf(each, step.load, targets), points: of(step) })),
  );
}

function labelOf({ target }: TargetResult, load: Step['load'], all: readonly TargetResult[]): string {
  return all.length > 1 ? `${target}, ${loadText(load)}` : loadText(load);
}

function targetSection({ target, coldStartMs, steps }: TargetResult): string {
  const heading = [
    'load',
    'requests/s',
    'p50',
    'p95',
    'p99',
    'first token p50',
    'tokens/s',
    'memory',
    'errors',
  ];
  const rows = steps.map((step) => [
    loadText(step.load),
    number(step.requestsPerSecond),
    ...[step.latency?.p50, step.latency?.p95, step.latency?.p99, step.firstToken?.p50].map(milliseconds),
    step.tokensPerSecond === null ? '-' : number(step.tokensPerSecond),
    step.memoryBytes === null ? '-' : megabytes(step.memoryBytes),
    errorsText(step),
  ]);
  const start = coldStartMs === null ? '' : `<p>Ready ${e(milliseconds(coldStartMs))} after its start.</p>`;
  const notes = steps.flatMap(notesOn).map((note) => `<p class="note">${e(note)}</p>`);
  return `<h2>${e(target)}</h2>${start}${table([heading, ...rows])}${notes.join('')}`;
}

function comparisonSection(comparisons: readonly Comparison[]): string {
  const rows = comparisons.map(({ load, requestsPerSecond, p50 }) => [
    loadText(load),
    ratioText(requestsPerSecond),
    ratioText(p50),
  ]);
  return `<h2>First over second</h2><p>Median of the slices, smallest to largest.</p>${table([
    ['load', 'requests/s', 'p50'],
    ...rows,
  ])}`;
}

function table([heading = [], ...rows]: readonly (readonly string[])[]): string {
  const cells = (row: readonly string[], tag: string) =>
    row.map((cell) => `<${tag}>${e(cell)}</${tag}>`).join('');
  const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('');
  return `<div class="wide" tabindex="0" role="region" aria-label="measured"><table><thead><tr>${cells(heading, 'th')}</tr></thead><tbody>${body}</tbody></table></div>`;
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1c2024; --soft: #6b7280; --line: #d9dde2; --paper: #fff;
  --c0: #2563eb; --c1: #d97706; --c2: #059669; --c3: #9333ea; --c4: #dc2626; --c5: #0891b2; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --soft: #9aa3ad; --line: #353b42; --paper: #15181b;
  --c0: #60a5fa; --c1: #fbbf24; --c2: #34d399; --c3: #c084fc; --c4: #f87171; --c5: #22d3ee; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin-top: 2rem; overflow-wrap: anywhere; }
code { font-size: .85rem; overflow-wrap: anywhere; } .note { color: var(--c4); } .wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
svg { width: 100%; height: auto; } svg text { fill: var(--soft); font: 12px system-ui, sans-serif; }
.axis { stroke: var(--line); } .line { fill: none; stroke-width: 2; }
${[0, 1, 2, 3, 4, 5].map((i) => `.c${i} { fill: var(--c${i}); } .line.c${i} { fill: none; stroke: var(--c${i}); }`).join('\n')}
`;
