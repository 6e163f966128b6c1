/**
 * Summaries of 32 tokens beside other servers, on an encoder-decoder of t5-small's size: node bench/summarization.mjs
 * --help. Needs BENCH_PYTHON for its model, once; docs/benchmarks.md says what the columns mean.
 */
import { benchModel } from './lib.mjs';
import { SAME_TEXT } from './lib/agreement.mjs';
import { naive, slipway } from './lib/encoders.mjs';
import { readOptions } from './lib/options.mjs';
import { runTextBench } from './lib/text-bench.mjs';

const TASK = 'summarization';
const GRAPHS = {
  encoder_model: 'onnx/encoder_model.onnx',
  decoder_model_merged: 'onnx/decoder_model_merged.onnx',
};

const options = readOptions({ cells: ['128@1', '128@8'], rounds: 3, seconds: 15 });
const dir = benchModel('bench_seq2seq.py', { python: process.env.BENCH_PYTHON });
const NEW_TOKENS = 32;
const request = (value) => ({ path: '/run', body: JSON.stringify(value) });

await runTextBench('summarization', {
  ...{ options, agreement: SAME_TEXT, probe: '128' },
  all: [
    {
      ...slipway(dir, TASK, { engine: 'generation', graphs: GRAPHS }),
      request: (text) => request({ text, params: { max_new_tokens: NEW_TOKENS } }),
    },
    {
      ...naive(dir, TASK),
      request: (text) => request({ text, max_new_tokens: NEW_TOKENS }),
      parse: (body) => JSON.parse(body)[0].summary_text,
    },
  ],
});
