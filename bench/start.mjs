/**
 * Time from a server's start to its first answer, and the memory that the start takes, beside a bare process that opens
 * one session and runs it once: node bench/start.mjs [--rounds N] [--only a,b] [--against FOLDER]. With --against the
 * build of another checkout takes part: before and after in one run. Files are in the page cache.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { planModel } from '../dist/builder/plan/index.js';
import { folderSource } from '../dist/runtime/store/folder.js';
import { benchModel, MB, startServer } from './lib.mjs';
import { median } from './lib/numbers.mjs';
import { photosOf } from './lib/photos.mjs';
import { firstAnswer, peakPss, serverNode } from './lib/processes.mjs';
import { report } from './lib/rounds.mjs';

const TEXT = 'Ships in the harbour wait for the tide.';
const [photo] = await photosOf('224x224');
const text = { text: TEXT };
/** Weights that are served: the repository's graph, or one of ours over its PyTorch weights. */
const MODELS = {
  encoder: { script: 'bench_encoder.py', task: 'feature-extraction', weights: ['onnx', 'own'], body: text },
  classifier: { script: 'bench_classifier.py', task: 'text-classification', weights: ['onnx'], body: text },
  images: {
    script: 'bench_vit.py',
    task: 'image-classification',
    weights: ['onnx'],
    body: { base64: photo },
  },
  decoder: {
    script: 'bench_decoder.py',
    task: 'text-generation',
    weights: ['onnx', 'own'],
    body: { ...text, params: { max_new_tokens: 1 } },
  },
};

const { values: options } = parseArgs({
  options: {
    ...{ rounds: { type: 'string', default: '5' }, only: { type: 'string' } },
    against: { type: 'string' },
  },
});
const chosen = options.only?.split(',') ?? Object.keys(MODELS);
const builds = [
  { name: 'slipway', image: 'dist/image/main.mjs' },
  ...(options.against ? [{ name: 'against', image: resolve(options.against, 'dist/image/main.mjs') }] : []),
];
for (const { image } of builds) if (!existsSync(image)) throw new Error(`${image} is not built`);

/** First answer and peak memory of one start. Memory is read too seldom to slow the start. */
async function startOnce({ image, dir, spec, body }) {
  const started = performance.now();
  const server = await startServer({ dir, spec, image, node: serverNode() });
  try {
    let firstMs = 0;
    const peakBytes = await peakPss(
      server.pid,
      async () => {
        await firstAnswer(server, { path: '/run', body: JSON.stringify(body) });
        firstMs = performance.now() - started;
        await settled(server.pid);
      },
      100,
    );
    return { firstMs, peakBytes };
  } finally {
    await server.stop();
  }
}

/** What is made after the first answer counts as memory of the start. */
const settled = () => new Promise((later) => setTimeout(later, 3000));

/** A process that opens one session over the same graph and runs it once. */
function bareOnce({ dir, spec }) {
  const started = performance.now();
  const args = [
    'bench/peers/raw-start.mjs',
    dir,
    JSON.stringify(spec.written?.[0] ?? { path: spec.graphs.model }),
  ];
  execFileSync(serverNode(), args, { stdio: ['ignore', 'ignore', 'inherit'] });
  return { firstMs: performance.now() - started };
}

const measured = [];
for (const name of chosen) {
  const { script, task, weights, body } = MODELS[name];
  const flags = weights.length > 1 ? ['--weights'] : [];
  const dir = resolve(
    benchModel(script, { name: `${script.replace('.py', '')}${flags.length ? '_weights' : ''}`, flags }),
  );
  for (const kind of weights) {
    const plan = await planModel({
      source: folderSource(dir),
      id: 'bench/model',
      task,
      dtype: 'fp32',
      weights: kind,
    });
    const model = { dir, spec: plan.spec, body };
    const contestants = [
      ...builds.map((build) => ({
        name: build.name,
        once: () => startOnce({ ...model, image: build.image }),
      })),
      { name: 'bare', once: async () => bareOnce(model) },
    ];
    for (const each of contestants) await each.once();
    for (let round = 0; round < Number(options.rounds); round++) {
      for (const each of round % 2 ? contestants.toReversed() : contestants)
        measured.push({ model: `${name} ${kind}`, contestant: each.name, round, ...(await each.once()) });
    }
    console.error(`${name} ${kind} done`);
  }
}

const keyOf = ({ model, contestant }) => `${model} ${contestant}`;
const groups = [...new Set(measured.map(keyOf))].map((key) => [
  key,
  measured.filter((row) => keyOf(row) === key),
]);
report('start', {
  options,
  measured,
  tables: {
    'Start (medians over rounds)': groups.map(([name, rows]) => ({
      name,
      'first answer ms': Math.round(median(rows.map(({ firstMs }) => firstMs))),
      'least ms': Math.round(Math.min(...rows.map(({ firstMs }) => firstMs))),
      'peak MB': rows[0].peakBytes ? Math.round(median(rows.map(({ peakBytes }) => peakBytes)) / MB) : '',
    })),
  },
});
