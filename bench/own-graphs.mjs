/**
 * Graphs that the builder writes over PyTorch weights, beside ONNX exports of the same weights, and packed to eight and
 * four bits; with PEERS_PYTHON also beside llama.cpp: node bench/own-graphs.mjs --help. docs/benchmarks.md says what the columns
 * mean.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { benchModel, startServer } from './lib.mjs';
import { SAME_VECTOR } from './lib/agreement.mjs';
import { llamaCpp, NEW_TOKENS } from './lib/decoders.mjs';
import { readOptions } from './lib/options.mjs';
import { serverNode } from './lib/processes.mjs';
import { report, rowsOf, runAlone, runRounds } from './lib/rounds.mjs';
import { prompts, textsOf } from './lib/texts.mjs';
import { checkAgreement } from './lib/agreement.mjs';

const options = readOptions(
  { cells: ['encoder@1', 'encoder@8', 'decoder@1', 'decoder@8'], rounds: 3, seconds: 8 },
  { variants: { type: 'string' } },
);

/** Weights and format of each contestant, by its name. */
const VARIANTS = {
  export: ['--weights', 'onnx', '--dtype', 'fp32'],
  own: ['--weights', 'own'],
  'export q8': ['--weights', 'onnx', '--dtype', 'q8'],
  'own q8': ['--weights', 'own', '--dtype', 'q8'],
  'own q4': ['--weights', 'own', '--dtype', 'q4'],
};
const chosen = options.variants?.split(',') ?? Object.keys(VARIANTS);

const KINDS = {
  encoder: {
    script: 'bench_encoder.py',
    task: 'feature-extraction',
    variants: ['export', 'own', 'own q8', 'own q4'],
    inputs: () => textsOf('mixed'),
    request: (text) => ({ path: '/run', body: JSON.stringify({ text }) }),
    parse: (body) => JSON.parse(body).output,
    job: {},
  },
  decoder: {
    script: 'bench_decoder.py',
    task: 'text-generation',
    variants: Object.keys(VARIANTS),
    inputs: prompts,
    request(text) {
      const params = { max_new_tokens: NEW_TOKENS, return_full_text: false };
      return { path: '/run', body: JSON.stringify({ text, stream: true, params }) };
    },
    parse: (body) => body,
    job: { tokens: NEW_TOKENS },
    peers: ['fp32', 'q8', 'q4'].map((dtype) => ({ ...llamaCpp({ dtype }), name: `llama.cpp ${dtype}` })),
  },
};

/** The files and the model.json of a variant, as `builder fetch` writes them. */
function fetched(kind, dir, variant) {
  const to = resolve(`.cache/bench/own-graphs/${kind}-${variant.replace(' ', '-')}`);
  const cache = resolve('.cache/bench/own-graphs/cache');
  const flags = [
    '--from',
    dir,
    '--to',
    to,
    '--cache',
    cache,
    '--task',
    KINDS[kind].task,
    ...VARIANTS[variant],
  ];
  const command = ['dist/builder/main.js', 'fetch', `bench/${kind}`, ...flags];
  const folder = execFileSync(process.execPath, command, { encoding: 'utf8' }).trim().split('\n')[0];
  return {
    folder,
    root: dirname(dirname(dirname(folder))),
    spec: JSON.parse(readFileSync(`${folder}.json`, 'utf8')),
  };
}

function contestants(kind) {
  const { script, variants, request, parse, peers = [] } = KINDS[kind];
  const name = `${script.replace('.py', '')}_weights`;
  const dir = resolve(benchModel(script, { name, flags: ['--weights'] }));
  const ours = variants
    .filter((variant) => chosen.includes(variant))
    .map((variant) => {
      const { root, spec } = fetched(kind, dir, variant);
      return {
        name: variant,
        request,
        parse,
        start: () => startServer({ dir: root, spec, node: serverNode() }),
      };
    });
  return [...ours, ...peers.filter(({ missing }) => !missing)];
}

const results = [];
for (const kind of Object.keys(KINDS)) {
  const cells = options.cells.filter((cell) => cell.kind === kind);
  if (cells.length === 0) continue;
  const { inputs, job } = KINDS[kind];
  const all = contestants(kind);
  const requestsOf = ({ request }) => inputs().map(request);
  const vectors =
    kind === 'encoder' && (await checkAgreement(all, inputs().slice(0, 8), { ...SAME_VECTOR, limit: 0.9 }));
  const alone = options.memory
    ? await runAlone({
        contestants: all,
        request: ({ request }) => request(inputs()[0]),
        underLoad: (each) => ({
          ...job,
          connections: 8,
          seconds: options.seconds,
          requests: requestsOf(each),
        }),
      })
    : [];
  const measured = await runRounds({
    ...{ contestants: all, cells, rounds: options.rounds, seconds: options.seconds },
    workload: () => ({ ...job, requestsOf }),
  });
  results.push({ kind, alone, measured, agreement: vectors ? vectors.rows : [] });
}
const measured = results.flatMap((each) => each.measured);
const isText = ({ cell }) => cell.startsWith('decoder');
report('own-graphs', {
  ...{ options, measured },
  tables: {
    'Vectors agree': results.flatMap(({ agreement }) => agreement),
    ...(options.memory && {
      'Each alone': results.flatMap(({ kind, alone }) =>
        alone.map((row) => ({ ...row, name: `${kind} ${row.name}` })),
      ),
    }),
    'Vectors (medians over rounds)': rowsOf(
      measured.filter((row) => !isText(row)),
      {
        columns: [
          ['req/s', 'rate'],
          ['p50 ms', 'p50'],
        ],
        value: 'rate',
        reference: 'export',
      },
    ),
    'Streams (medians over rounds)': rowsOf(measured.filter(isText), {
      columns: [
        ['tokens/s', 'tokens'],
        ['TTFT p50 ms', 'firstp50', 0],
        ['ITL p50 ms', 'gapp50'],
      ],
      value: 'tokens',
      reference: 'export',
    }),
  },
});
