import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openEncoderDecoder } from '../../../../../../runtime/engines/generation/decoding/encoder-decoder/open-encoder-decoder.js';
import { openTextEncoder } from '../../../../../../runtime/engines/generation/decoding/encoder-decoder/text-encoder.js';
import { branched, expectSameScores } from '../support.js';
import { fixtureSpec } from '../../../../../parity/load.js';
import { withOneRow } from '../one-row.js';

const dir = join(import.meta.dirname, '../../../../../fixtures/zoo/text2text-generation/t5/repo');
const config = JSON.parse(await readFile(join(dir, 'config.json'), 'utf8')) as Record<string, unknown>;
const { signal } = new AbortController();
const SOURCE = [7, 8, 9, 10, 1];
/** Two layers of four heads, twelve wide, keys and values of four bytes; states of 48 numbers. */
const TOKEN = 2 * 4 * 12 * 2 * 4;
const ROW = SOURCE.length * (TOKEN + 48 * 4);

const requestOf = (cacheBytes: number) => ({
  ...{ spec: fixtureSpec('text2text-generation', 'zoo/t5', dir), dir, device: 'cpu' as const, threads: 1 },
  ...{ workers: 0, copyWeights: false, cacheBytes, maxPixels: 1, maxSeconds: 1 },
});

const open = (cacheBytes: number, own = {}) =>
  openEncoderDecoder(requestOf(cacheBytes), { ...config, ...own }, openTextEncoder);

test('the cache of its text and of its longest answer has to fit before a generation begins', async () => {
  const model = await open(2 * (ROW + 10 * TOKEN));
  const taken = await model.start(SOURCE, { maxRows: 1, maxLength: 10, signal });
  await expect(model.start(SOURCE, { maxRows: 1, maxLength: 11, signal })).rejects.toMatchObject({
    code: 'overloaded',
  });
  await expect(model.start(SOURCE, { maxRows: 4, maxLength: 10, signal })).rejects.toMatchObject({
    code: 'unprocessable',
    message: expect.stringContaining('CACHE_BYTES'),
  });
  taken.end();
  (await model.start(SOURCE, { maxRows: 2, maxLength: 10, signal })).end();
});

test('a text that can’t be encoded takes no room', async () => {
  const model = await open(ROW + 10 * TOKEN);
  await expect(model.start([10 ** 6, 1, 1, 1, 1], { maxRows: 1, maxLength: 10, signal })).rejects.toThrow();
  (await model.start(SOURCE, { maxRows: 1, maxLength: 10, signal })).end();
});

test('an answer beyond the length of its model takes room as it grows', async () => {
  const model = await open(ROW + 5 * TOKEN, { n_positions: 3 });
  const decoding = await model.start(SOURCE, { maxRows: 1, maxLength: 10 ** 9, signal });
  await decoding.prefill({ tokens: [0] });
  for (let step = 1; step < 5; step++) await decoding.step([step]);
  await expect(decoding.step([5])).rejects.toMatchObject({ code: 'overloaded' });
  decoding.end();
  (await model.start(SOURCE, { maxRows: 1, maxLength: 5, signal })).end();
});

test('a decoder made for one row gets its rows one after the other', async () => {
  const scoresOf = async (folder: string, decoder: string) => {
    const graphs = { encoder_model: 'encoder_model.onnx', decoder_model_merged: decoder };
    const request = { ...requestOf(2 ** 28), dir: folder };
    const model = await openEncoderDecoder(
      { ...request, spec: { ...request.spec, graphs } },
      config,
      openTextEncoder,
    );
    const decoding = await model.start(SOURCE, { maxRows: 3, maxLength: 10, signal });
    return branched(decoding, [0]);
  };
  const onnx = join(dir, 'onnx');
  const whole = await scoresOf(onnx, 'decoder_model_merged.onnx');
  await withOneRow(join(onnx, 'decoder_model_merged.onnx'), async (folder, single) => {
    const found = await scoresOf(folder, single);
    expectSameScores(found, whole);
  });
});
