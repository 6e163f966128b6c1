import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type {
  Decoding,
  EncoderDecoder,
} from '../../../../../../runtime/engines/generation/decoding/decoder.js';
import { openEncoderDecoder } from '../../../../../../runtime/engines/generation/decoding/encoder-decoder/open-encoder-decoder.js';
import { openTextEncoder } from '../../../../../../runtime/engines/generation/decoding/encoder-decoder/text-encoder.js';
import { best, ownModel } from '../own-graphs.js';
import { branched, expectSameScores } from '../support.js';

type Model = EncoderDecoder<readonly number[]>;
const { signal } = new AbortController();
const START = 2;
const sources = [9, 4, 14].map((length) => Array.from({ length }, (_, i) => 5 + ((7 * i + length) % 60)));

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(path.join(tmpdir(), 'own-'))));
afterEach(() => rm(folder, { recursive: true }));

async function open(name: string, cacheBytes = 2 ** 26): Promise<Model> {
  const model = { name, head: 'seq2seq-lm', task: 'text2text-generation' } as const;
  const { request, config } = await ownModel(folder, model);
  return openEncoderDecoder({ ...request, cacheBytes }, config, openTextEncoder);
}

const start = (model: Model, source: readonly number[], maxRows = 1): Promise<Decoding> =>
  model.start(source, { maxRows, maxLength: 20, signal });

async function greedy(model: Model, source: readonly number[]): Promise<number[]> {
  const decoding = await start(model, source);
  const out = [best(await decoding.prefill({ tokens: [START] }))];
  while (out.length < 12) out.push(best((await decoding.step([out.at(-1)!]))[0]!));
  decoding.end();
  return out;
}

test.each(['t5', 'bart', 'm2m', 'pegasus'])('answers of %s to several sources share runs', async (name) => {
  const model = await open(name);
  const alone = [];
  for (const source of sources) alone.push(await greedy(model, source));
  expect(await Promise.all(sources.map((source) => greedy(model, source)))).toEqual(alone);
});

test('rows of one source branch as they do alone, whoever else is under way', async () => {
  const model = await open('t5');
  const alone = await branched(await start(model, sources[0]!, 3), [START]);
  const others = Promise.all([greedy(model, sources[1]!), greedy(model, sources[2]!)]);
  expectSameScores(await branched(await start(model, sources[0]!, 3), [START]), alone);
  await others;
});

test('a source that can’t be encoded, and one whose caller has gone, take no room', async () => {
  const model = await open('t5', 2 ** 16);
  const room = () => start(model, sources[0]!).then((decoding) => decoding.end());
  for (let i = 0; i < 20; i++) await expect(start(model, [10 ** 6, 1, 1])).rejects.toThrow();
  await room();
  const gone = AbortSignal.abort(new Error('gone'));
  for (let i = 0; i < 20; i++) {
    const decoding = await model.start(sources[0]!, { maxRows: 1, maxLength: 20, signal: gone });
    await expect(decoding.prefill({ tokens: [START] })).rejects.toThrow('gone');
    decoding.end();
  }
  await room();
});
