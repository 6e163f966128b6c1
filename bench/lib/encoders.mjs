/** Contestants that answer one text with one JSON value. */
import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { availableParallelism } from 'node:os';
import { startServer } from '../lib.mjs';
import { installedPeer, serverNode, startProcess } from './processes.mjs';

const CORES = availableParallelism();

const run = (text) => ({ path: '/run', body: JSON.stringify({ text }) });

/** @param model more of the spec; with `in`, the folder of another checkout, whose build is measured */
export function slipway(dir, task, { in: checkout, ...model } = {}) {
  return {
    name: checkout === undefined ? 'slipway' : 'against',
    start: () => startServer({ dir, task, node: serverNode(), ...buildOf(checkout), ...model }),
    request: run,
    parse: (body) => JSON.parse(body).output,
  };
}

function buildOf(checkout) {
  if (checkout === undefined) return {};
  const image = resolve(checkout, 'dist/image/main.mjs');
  if (existsSync(image)) return { image };
  throw new Error(`${checkout} has no build: run "npm run build" there`);
}

export function naive(dir, task) {
  return {
    name: 'naive',
    start() {
      const cwd = installedPeer('naive');
      const env = (port) => ({ TASK: task, MODEL: dir, PORT: String(port) });
      return startProcess((port) => ({ command: serverNode(), args: ['server.mjs'], cwd, env: env(port) }));
    },
    request: run,
    parse: JSON.parse,
  };
}

const ORT_LIBRARY = resolve(
  `node_modules/onnxruntime-node/bin/napi-v6/linux/${process.arch}/libonnxruntime.so.1`,
);

/** Text Embeddings Inference, built from its source with the ONNX Runtime backend: docs/benchmarks.md. */
export function tei(dir, { path, parse, flags = [] }) {
  const binary = process.env.TEI_BINARY;
  const missing = !binary
    ? 'TEI_BINARY is not set'
    : !existsSync(binary) && `TEI_BINARY names ${binary}, which is not there`;
  return {
    ...{ name: 'tei', missing, parse },
    start: () =>
      startProcess((port) => ({
        command: binary,
        args: ['--model-id', dir, '--port', String(port), '--hostname', '127.0.0.1', ...flags],
        env: { ORT_DYLIB_PATH: ORT_LIBRARY, ...process.env, HF_HUB_OFFLINE: '1' },
      })),
    request: (text) => ({ path, body: JSON.stringify({ inputs: text, truncate: true }) }),
  };
}

/**
 * What sessions alone can do: `processes` of them with `threads` each, without a server. `jobs(kind)` are the ways to try
 * (batch sizes, say), of which the best one counts.
 */
export function rawSessions(dir, { peer, processes, threads, jobs, file = 'onnx/model.onnx' }) {
  const name = `raw-${processes}x${threads}`;
  const worker = () => {
    const child = fork(peer, [dir, join(dir, file), String(threads)]);
    const ask = (job) =>
      new Promise((answer, fail) => {
        const ended = (code) => fail(new Error(`${name} ended with ${code}`));
        child.once('message', (result) => (child.off('exit', ended), answer(result)));
        child.once('exit', ended);
        child.send(job);
      });
    return { child, ask, stop: () => child.kill() };
  };
  return {
    name,
    start() {
      const workers = Array.from({ length: processes }, worker);
      return { workers, stop: () => workers.forEach((each) => each.stop()) };
    },
    measure: ({ workers }, { kind }, seconds) => measureRaw(workers, jobs(kind), seconds),
  };
}

async function measureRaw(workers, jobs, seconds) {
  const tried = [];
  for (const job of jobs) {
    const share = { ...job, seconds: seconds / jobs.length };
    const results = await Promise.all(workers.map((each) => each.ask(share)));
    const sum = (key) => results.reduce((total, each) => total + each[key], 0);
    tried.push({ rate: sum('rate'), cpuMs: (sum('cpuSeconds') * 1000) / sum('items') });
  }
  return tried.toSorted((a, b) => b.rate - a.rate)[0];
}

/** Padded tokens a run; 0 is one text a run. */
const BUDGETS = [0, 256, 1024];

/** Texts tokenised before. */
const raw = (dir, { textsOf, ...sessions }) =>
  rawSessions(dir, {
    ...{ ...sessions, peer: 'bench/peers/raw-encoder.mjs' },
    jobs: (kind) => BUDGETS.map((budget) => ({ texts: textsOf(kind), budget })),
  });

/** One text at a time through tokenizer and session in one process with all cores: latency without a server. */
export function bare(dir, options) {
  const limit = raw(dir, { ...options, processes: 1, threads: CORES });
  return {
    ...limit,
    name: 'bare',
    cells: ({ connections }) => connections === 1,
    measure: ({ workers }, { kind }, seconds) =>
      workers[0].ask({ texts: options.textsOf(kind), lone: true, seconds }),
  };
}

/** One session on all cores, and one on each. */
export const SPREADS = [
  { processes: 1, threads: CORES },
  { processes: CORES, threads: 1 },
];

export const rawOnes = (dir, textsOf) => SPREADS.map((each) => raw(dir, { ...each, textsOf }));
