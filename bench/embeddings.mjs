/**
 * Sentence embeddings beside other servers, on a model of all-MiniLM-L6-v2's size: node bench/embeddings.mjs --help.
 * docs/benchmarks.md says what the columns mean.
 */
import { benchModel } from './lib.mjs';
import { SAME_VECTOR } from './lib/agreement.mjs';
import { bare, naive, rawOnes, slipway, tei } from './lib/encoders.mjs';
import { readOptions } from './lib/options.mjs';
import { runTextBench } from './lib/text-bench.mjs';
import { textsOf } from './lib/texts.mjs';

const TASK = 'feature-extraction';
const CELLS = [
  ...['mixed@1', 'mixed@8', 'mixed@32', 'mixed@64'],
  ...['10', '128', '256'].flatMap((tokens) => [`${tokens}@1`, `${tokens}@32`]),
];

const options = readOptions({ cells: CELLS, rounds: 5, seconds: 8 });
const dir = benchModel('bench_encoder.py');
const teiApi = {
  ...{ path: '/embed', parse: (body) => JSON.parse(body)[0] },
  flags: ['--dtype', 'float32', '--pooling', 'mean'],
};
await runTextBench('embeddings', {
  ...{ options, agreement: SAME_VECTOR, probe: 'mixed' },
  all: [
    ...[slipway(dir, TASK), naive(dir, TASK), tei(dir, teiApi)],
    ...[...rawOnes(dir, textsOf), bare(dir, { textsOf })],
  ],
});
