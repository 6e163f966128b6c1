/**
 * Seconds of audio written down in a second beside transformers.js, on a model of whisper-tiny.en's size that writes 32 tokens
 * for each audio clip of thirty seconds: node bench/transcription.mjs --help. Needs BENCH_PYTHON for its model, once;
 * docs/benchmarks.md says what the columns mean.
 */
import { benchModel } from './lib.mjs';
import { loadCeiling } from './lib/ceiling.mjs';
import { naive, slipway } from './lib/encoders.mjs';
import { chooseContestants, readOptions } from './lib/options.mjs';
import { report, rowsOf, runRounds } from './lib/rounds.mjs';
import { audiosOf } from './lib/audio.mjs';

const TASK = 'automatic-speech-recognition';
const GRAPHS = {
  encoder_model: 'onnx/encoder_model.onnx',
  decoder_model_merged: 'onnx/decoder_model_merged.onnx',
};
const NEW_TOKENS = 32;
const COLUMNS = [
  ['audio s/s', 'audio'],
  ...[50, 95].map((p) => [`p${p} ms`, `p${p}`]),
  ['CPU ms', 'cpuMs', 0],
  ['others', 'othersCores', 2],
];

const options = readOptions({ cells: ['30@1', '30@8'], rounds: 3, seconds: 30 });
const dir = benchModel('bench_whisper.py', { python: process.env.BENCH_PYTHON });
const request = (value) => ({ path: '/run', body: JSON.stringify(value) });
const contestants = chooseContestants(
  [
    {
      ...slipway(dir, TASK, { engine: 'generation', profile: 'media', graphs: GRAPHS }),
      request: (base64) => request({ base64, params: { max_new_tokens: NEW_TOKENS } }),
    },
    { ...naive(dir, TASK), request: (base64) => request({ base64, max_new_tokens: NEW_TOKENS }) },
  ],
  options.only,
);

const ceiling = await loadCeiling();
const measured = await runRounds({
  ...{ contestants, cells: options.cells, rounds: options.rounds, seconds: options.seconds },
  workload: ({ kind }) => ({ requestsOf: (each) => audiosOf(Number(kind)).map(each.request) }),
});
const withAudio = measured.map((row) => ({ ...row, audio: row.rate * Number(row.cell.split('@')[0]) }));
report('transcription', {
  ...{ options, ceiling, measured: withAudio },
  tables: { 'Load (medians over rounds)': rowsOf(withAudio, { columns: COLUMNS, value: 'audio' }) },
});
