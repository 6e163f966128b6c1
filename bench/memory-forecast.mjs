/**
 * Memory that `builder plan` predicts beside what the server takes: every reference model, and models of usual size.
 * Fails where the predicted peak is more than 15 % off.
 *
 *   node bench/memory-forecast.mjs [--only PART,PART] [--zoo | --large]
 */
import { parseArgs } from 'node:util';
import { existsSync } from 'node:fs';
import { benchModel, MB, table } from './lib.mjs';
import { photosOf } from './lib/photos.mjs';
import { comparePeak, zooModels } from './lib/peak-memory.mjs';

const LIMIT = 0.15;
const TEXT =
  'A quiet river runs through the valley, and the ships wait for the tide in the harbour near the town.';
const TIMES = 4;

const { values: options } = parseArgs({
  options: { only: { type: 'string' }, zoo: { type: 'boolean' }, large: { type: 'boolean' } },
});

const repeated = (request) => Array.from({ length: TIMES }, () => request);
const text = repeated({ text: TEXT });
const generation = repeated({ text: TEXT, params: { max_new_tokens: 32 } });
const photos = (await photosOf('1000x750')).slice(0, TIMES).map((base64) => ({ base64 }));

/** Models that scripts make, in the formats that they write. The encoder-decoder needs BENCH_PYTHON. */
const LARGE = [
  { script: 'bench_encoder.py', task: 'feature-extraction', requests: text },
  { script: 'bench_classifier.py', task: 'text-classification', requests: text },
  { script: 'bench_vit.py', task: 'image-classification', requests: photos },
  { script: 'bench_decoder.py', task: 'text-generation', requests: generation },
  { script: 'bench_decoder.py', task: 'text-generation', dtype: 'q8', requests: generation },
  { script: 'bench_decoder.py', task: 'text-generation', dtype: 'q4', requests: generation },
  {
    script: 'bench_seq2seq.py',
    task: 'summarization',
    requests: generation,
    python: process.env.BENCH_PYTHON,
  },
];

function largeModels() {
  return LARGE.filter(
    ({ script, python }) => script !== 'bench_seq2seq.py' || python || existsSync(made(script)),
  ).map(({ script, python, ...model }) => ({
    name: `${script.replace('.py', '')} ${model.dtype ?? 'fp32'}`,
    ...model,
    make: () => benchModel(script, { python }),
  }));
}

const made = (script) => `.cache/bench/${script.replace('.py', '')}/.complete`;

const all = [...(options.large ? [] : zooModels()), ...(options.zoo ? [] : largeModels())];
const parts = options.only?.split(',');
const chosen = parts ? all.filter(({ name }) => parts.some((part) => name.includes(part))) : all;
if (chosen.length === 0) throw new Error(`no model has ${options.only} in its name`);

const rows = [];
for (const { name, make, ...model } of chosen) {
  const { bytes, predicted, measured } = await comparePeak({ ...model, dir: model.dir ?? make() });
  const ratio = predicted.memory.peakBytes / measured.peakBytes;
  const mb = (value) => Math.round(value / MB);
  rows.push({
    name,
    'files MB': (bytes / MB).toFixed(1),
    'peak predicted': mb(predicted.memory.peakBytes),
    measured: mb(measured.peakBytes),
    ratio: ratio.toFixed(2),
    'steady predicted': mb(predicted.memory.steadyBytes),
    'steady measured': mb(measured.steadyBytes),
    'load s predicted': predicted.loadSeconds,
    'load s': (measured.readyMs / 1000).toFixed(1),
    ok: Math.abs(ratio - 1) <= LIMIT,
  });
}
table(rows);
if (rows.some(({ ok }) => !ok)) process.exitCode = 1;
