/**
 * What it gains to feed prompts that came together as one batch of rows of one length, beside one after the other, in bare
 * sessions: the sum of the times, and the mean time until a prompt is through (who comes first waits for all in a batch).
 * Usage: node bench/prompts.mjs [--rounds 7] [--rows 8] [--only fp32,q8,q4]
 */
import { parseArgs } from 'node:util';
import { join } from 'node:path';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { benchModel, table } from './lib.mjs';
import { median } from './lib/numbers.mjs';

const GRAPHS = { fp32: 'onnx/model.onnx', q8: 'onnx/model_quantized.onnx', q4: 'onnx/model_q4.onnx' };
const LENGTHS = [8, 32, 128];

const { values: options } = parseArgs({
  options: {
    ...{ rounds: { type: 'string', default: '7' }, rows: { type: 'string', default: '8' } },
    only: { type: 'string', default: 'fp32,q8,q4' },
  },
});
const rows = Number(options.rows);
const dir = benchModel('bench_decoder.py');

const numbers = (length, of) => new BigInt64Array(Array.from({ length }, (_, i) => BigInt(of(i))));

/** A prompt's first run: tokens, no cache. */
function feedsOf({ inputNames, inputMetadata }, batch, length) {
  const whole = (of) => new Tensor('int64', numbers(batch * length, of), [batch, length]);
  const feeds = { input_ids: whole((i) => 300 + (i % 997)), attention_mask: whole(() => 1) };
  if (inputNames.includes('position_ids')) feeds.position_ids = whole((i) => i % length);
  for (const { name, type, shape } of inputMetadata)
    if (name.startsWith('past_key_values'))
      feeds[name] = new Tensor(type, new Float32Array(0), [batch, shape[1], 0, shape[3]]);
  return feeds;
}

async function timed(session, feeds) {
  const started = performance.now();
  const outputs = await session.run(feeds);
  for (const output of Object.values(outputs)) output.dispose();
  return performance.now() - started;
}

const found = [];
for (const dtype of options.only.split(',')) {
  const session = await InferenceSession.create(join(dir, GRAPHS[dtype]), { intraOpNumThreads: 2 });
  for (const length of LENGTHS) {
    const [one, all] = [feedsOf(session, 1, length), feedsOf(session, rows, length)];
    const ratios = { sum: [], mean: [] };
    const times = { one: [], all: [] };
    for (let round = 0; round <= Number(options.rounds); round++) {
      let [sum, ends] = [0, 0];
      for (let row = 0; row < rows; row++) {
        sum += await timed(session, one);
        ends += sum;
      }
      const together = await timed(session, all);
      // The first round warms up.
      if (round === 0) continue;
      times.one.push(sum / rows);
      times.all.push(together);
      ratios.sum.push(together / sum);
      ratios.mean.push(together / (ends / rows));
    }
    found.push({
      name: `${dtype}, ${rows} prompts of ${length}`,
      'one, ms': median(times.one).toFixed(1),
      'batch, ms': median(times.all).toFixed(1),
      'batch / in turn': median(ratios.sum).toFixed(2),
      'mean wait, batch / in turn': median(ratios.mean).toFixed(2),
    });
  }
  await session.release();
}
table(found);
