/**
 * Text classification beside other servers, on a model of BERT-base's size: node bench/classification.mjs --help.
 * docs/benchmarks.md says what the columns mean.
 */
import { benchModel } from './lib.mjs';
import { SAME_SCORES } from './lib/agreement.mjs';
import { bare, naive, rawOnes, slipway, tei } from './lib/encoders.mjs';
import { readOptions } from './lib/options.mjs';
import { runTextBench } from './lib/text-bench.mjs';
import { textsOf } from './lib/texts.mjs';

const TASK = 'text-classification';

const options = readOptions({ cells: ['128@1', '128@8', '128@32'], rounds: 3, seconds: 15 });
const dir = benchModel('bench_classifier.py');
const teiApi = { path: '/predict', parse: JSON.parse, flags: ['--dtype', 'float32'] };
await runTextBench('classification', {
  ...{ options, agreement: SAME_SCORES, probe: '128' },
  all: [
    ...[slipway(dir, TASK), naive(dir, TASK), tei(dir, teiApi)],
    ...[...rawOnes(dir, textsOf), bare(dir, { textsOf })],
  ],
});
