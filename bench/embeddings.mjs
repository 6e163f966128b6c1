/**
 * Sentence embeddings beside other servers, on a model of all-MiniLM-L6-v2's size: node bench/embeddings.mjs --help.
 * docs/benchmarks.md says what the columns mean.
 */
import { benchModel } from './lib.mjs';
import { checkAgreement, SAME_VECTOR } from './lib/agreement.mjs';
import { loadCeiling } from './lib/ceiling.mjs';
import { bare, naive, rawOnes, slipway, tei } from './lib/encoders.mjs';
import { chooseContestants, readOptions } from './lib/options.mjs';
import { report, rowsOf, runAlone, runRounds } from './lib/rounds.mjs';
import { textsOf } from './lib/texts.mjs';

const TASK = 'feature-extraction';
const CELLS = [
  ...['mixed@1', 'mixed@8', 'mixed@32', 'mixed@64'],
  ...['10', '128', '256'].flatMap((tokens) => [`${tokens}@1`, `${tokens}@32`]),
];
const COLUMNS = [
  ['req/s', 'rate'],
  ...[50, 95, 99].map((p) => [`p${p} ms`, `p${p}`]),
  ['CPU ms', 'cpuMs', 2],
  ['others', 'othersCores', 2],
];

const options = readOptions({ cells: CELLS, rounds: 5, seconds: 8 });
const dir = benchModel('bench_encoder.py');
const contestants = chooseContestants(
  [
    slipway(dir, TASK),
    naive(dir, TASK),
    tei(dir, {
      path: '/embed',
      parse: (body) => JSON.parse(body)[0],
      flags: ['--dtype', 'float32', '--pooling', 'mean'],
    }),
    ...rawOnes(dir, textsOf),
    bare(dir, { textsOf }),
  ],
  options.only,
);

const ceiling = await loadCeiling();
const agreement = await checkAgreement(contestants, textsOf('mixed').slice(0, 12), SAME_VECTOR);
const alone = options.memory
  ? await runAlone({
      contestants,
      request: ({ request }) => request('the quiet river'),
      underLoad: ({ request }) => ({
        ...{ connections: 32, seconds: options.seconds, requests: textsOf('mixed').map(request) },
      }),
    })
  : [];
const measured = await runRounds({
  ...{ contestants, cells: options.cells, rounds: options.rounds, seconds: options.seconds },
  workload: ({ kind }) => ({ requestsOf: ({ request }) => textsOf(kind).map(request) }),
});
report('embeddings', {
  ...{ options, ceiling, measured },
  tables: {
    'Answers agree': agreement,
    ...(options.memory && { 'Each alone': alone }),
    'Load (medians over rounds)': rowsOf(measured, { columns: COLUMNS }),
  },
});
