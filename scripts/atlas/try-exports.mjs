/**
 * Tries exports of every pair of task and model type that the atlas calls untried: a tiny network of the type's class
 * (tiny.py), `builder serve --export force` over it, and its answers against those of transformers' pipelines. What is found
 * stands in exports.json, from which write-tried.mjs writes builder/export/tried.ts. A pair that stands there is not tried again,
 * but with --again, which takes named pairs only, whatever is known of them.
 *
 * Run from the repository root after `npm run build` and scripts/packing/unpack.mjs, with SLIPWAY_EXPORT_PYTHON set to a Python
 * that also has what tiny.py needs: node scripts/atlas/try-exports.mjs [--seconds 150] [--until HH:MM] [--again] [TASK[:TYPE] …]
 */
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { PINNED } from '../../dist/builder/export/versions.js';
import { freePort } from '../testing/free-port.mjs';
import { differenceOf, withFiles } from './answers.mjs';
import { RESULTS } from './trials.mjs';
import { untriedPairs } from './untried.mjs';

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '150' },
    again: { type: 'boolean', default: false },
    until: { type: 'string', default: '99:99' },
    folder: { type: 'string', default: path.join(tmpdir(), 'slipway-tiny') },
  },
});
const python = process.env.SLIPWAY_EXPORT_PYTHON;
const SECONDS = Number(flags.seconds);

const results = JSON.parse(readFileSync(RESULTS, 'utf8'));
results.tools = PINNED;
const save = () => writeFileSync(RESULTS, `${JSON.stringify(results, null, 1)}\n`);
/** The pairs that are asked for, in the order of the arguments. */
function asked() {
  if (flags.again) return positionals.map((name) => name.split(':')).map(([task, type]) => ({ task, type }));
  const pairs = untriedPairs();
  if (positionals.length === 0) return pairs;
  return positionals.flatMap((name) =>
    pairs.filter(({ task, type }) => name === task || name === `${task}:${type}`),
  );
}
const isDone = ({ task, type }) => !flags.again && results.pairs[task]?.[type] !== undefined;

/** The repository of a pair and its cases; a text where Python has none. */
async function tinyOf({ task, type }) {
  const folder = path.join(flags.folder, task, type);
  const isMade = ['cases.json', 'problem.txt'].some((name) => existsSync(path.join(folder, name)));
  if (!isMade) {
    const run = promisify(execFile)(python, ['scripts/atlas/tiny.py', flags.folder]);
    run.child.stdin.end(`${task} ${type}\n`);
    await run;
  }
  if (!existsSync(path.join(folder, 'cases.json')))
    return readFileSync(path.join(folder, 'problem.txt'), 'utf8').trim();
  return { folder, ...JSON.parse(readFileSync(path.join(folder, 'cases.json'), 'utf8')) };
}

/** Serves a repository with the lane, and hands over what the builder says until then. */
async function served({ task, type }, folder, ask) {
  const port = await freePort();
  const cache = path.join(flags.folder, 'cache');
  const args = ['serve', `zoo/${type}`, '--from', path.join(folder, 'repo'), '--task', task];
  const more = ['--export', 'force', '--port', String(port), '--cache', cache];
  const child = spawn(process.execPath, ['dist/builder/main.js', ...args, ...more], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let said = '';
  const ready = new Promise((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        said += text;
        if (said.includes(' answers at http')) resolve(true);
      });
    child.once('close', () => resolve(false));
  });
  const stop = () => child.pid && process.kill(-child.pid, 'SIGTERM');
  const timer = setTimeout(stop, SECONDS * 1000);
  const closed = once(child, 'close');
  const started = Date.now();
  try {
    if (!(await ready)) return { said, expired: Date.now() - started >= SECONDS * 1000 };
    return { said, answer: await ask(`http://127.0.0.1:${port}/run`) };
  } finally {
    clearTimeout(timer);
    if (child.exitCode === null && child.signalCode === null) stop();
    await closed;
    rmSync(cache, { recursive: true, force: true });
  }
}

/** Where an answer differs from Python's; undefined where none does. */
async function compare(url, cases, folder) {
  for (const { request, expect } of cases) {
    const body = JSON.stringify(withFiles(request, folder, 'url'));
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer local' },
      body,
      signal: AbortSignal.timeout(30_000),
    });
    const { error, output } = await response.json();
    if (error) return `the server says: ${typeof error === 'string' ? error : JSON.stringify(error)}`;
    const difference = await differenceOf(output, withFiles(expect, folder, 'bytes'));
    if (difference) return difference;
  }
  return undefined;
}

/** The builder's last words: the sentence that says why there is no export. */
function reasonIn(said) {
  const lines = said
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  const line = lines.findLast((one) =>
    /can't be exported|no export|not done after|ended by|^error|refus/i.test(one),
  );
  return (line ?? lines.at(-1) ?? 'it said nothing').replaceAll(flags.folder, '').slice(0, 300);
}

const DIFFERS = /differs from torch by (\S+) of/;

async function tried(pair) {
  const tiny = await tinyOf(pair);
  if (typeof tiny === 'string') return { result: 'untried', reason: tiny };
  const { folder, cases } = tiny;
  const { said, expired, answer } = await served(pair, folder, async (url) => ({
    difference: await compare(url, cases, folder),
  }));
  const about = { class: tiny.class };
  if (expired) return { ...about, result: 'untried', reason: `not done after ${SECONDS} s` };
  const isPlanned = said.includes('Export the graph of');
  if (!answer) return { ...about, result: isPlanned ? 'failed' : 'unplanned', reason: reasonIn(said) };
  const graph = Number(DIFFERS.exec(said)?.[1]);
  if (!(graph >= 0)) return { ...about, result: 'untried', reason: 'it was served without an export' };
  if (answer.difference) return { ...about, graph, result: 'differs', reason: answer.difference };
  return { ...about, graph, result: 'exports', answers: cases.length };
}

const isLate = () => new Date().toTimeString().slice(0, 5) >= flags.until;

mkdirSync(flags.folder, { recursive: true });
for (const pair of asked()) {
  if (isLate()) break;
  if (isDone(pair)) continue;
  const found = await tried(pair).catch((error) => ({
    result: 'untried',
    reason: `the trial failed: ${error.message}`,
  }));
  (results.pairs[pair.task] ??= {})[pair.type] = found;
  save();
  console.log(`${pair.task} ${pair.type}: ${found.result} ${found.reason ?? found.graph}`);
}
