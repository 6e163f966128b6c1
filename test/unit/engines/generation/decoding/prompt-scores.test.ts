import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { LoadRequest } from '../../../../../runtime/core/load-request.js';
import type { Decoder, DecodingRequest } from '../../../../../runtime/engines/generation/decoding/decoder.js';
import { openDecoder } from '../../../../../runtime/engines/generation/decoding/open-decoder.js';
import { openSingleDecoder } from '../../../../../runtime/engines/generation/decoding/single/open-single-decoder.js';
import { readModelConfig } from '../../../../../runtime/engines/repository/model-config.js';
import { readGraph } from '../../../../../runtime/onnx/graph.js';
import { fixtureSpec } from '../../../../parity/load.js';
import { ownModel } from './own-graphs.js';

const FIXTURES = path.join(import.meta.dirname, '../../../../fixtures');
const LLAMA = path.join(FIXTURES, 'zoo/text-generation/llama/repo');
const { signal } = new AbortController();

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(path.join(tmpdir(), 'scores-'))));
afterAll(() => rm(folder, { recursive: true }));

const exported: LoadRequest = {
  ...{ spec: fixtureSpec('text-generation', 'zoo/llama', LLAMA), dir: LLAMA, device: 'cpu', threads: 1 },
  ...{ workers: 0, copyWeights: false, cacheBytes: 2 ** 28, maxPixels: 1, maxSeconds: 1 },
};

/** Longer than what is fed in one run. */
const LENGTH = 300;
const tokens = (length: number) => Array.from({ length }, (_, i) => 5 + ((7 * i + 3) % 80));

function requestFor(length: number): DecodingRequest {
  return {
    ...{ maxRows: 1, maxLength: length, promptLength: length, scored: { keptBytes: 0 } },
    signal,
  };
}

/** Scores after each token of a prompt, told in one go. */
async function toldScores(decoder: Decoder, prompt: number[]): Promise<Float32Array[]> {
  const decoding = await decoder.start(requestFor(prompt.length));
  const all: Float32Array[] = [];
  const last = await decoding.prefill({ tokens: prompt }, async (rows, from) => {
    expect(from).toBe(all.length);
    for (const row of rows) all.push(row.slice());
  });
  decoding.end();
  expect(all).toHaveLength(prompt.length);
  expectClose(all.at(-1)!, last);
  return all;
}

/** The same, one token after the other. */
async function steppedScores(decoder: Decoder, prompt: number[]): Promise<Float32Array[]> {
  const decoding = await decoder.start(requestFor(prompt.length));
  const all = [(await decoding.prefill({ tokens: prompt.slice(0, 1) })).slice()];
  for (const token of prompt.slice(1)) all.push((await decoding.step([token]))[0]!.slice());
  decoding.end();
  return all;
}

function expectClose(found: Float32Array, expected: Float32Array): void {
  const worst = found.reduce((most, value, i) => Math.max(most, Math.abs(value - expected[i]!)), 0);
  expect(worst).toBeLessThan(2e-3);
}

async function openOwn(name: string, bits?: 4 | 8): Promise<Decoder> {
  const into = path.join(folder, `${name}${bits ?? ''}`);
  await mkdtemp(into);
  const { request, config } = await ownModel(folder, {
    ...{ name, head: 'causal-lm', task: 'text-generation', bits },
  });
  return openDecoder(request, config);
}

const OPEN: Record<string, () => Promise<Decoder>> = {
  'an export, in batches': async () => openDecoder(exported, await readModelConfig(LLAMA)),
  'an export, alone': async () => {
    const file = path.join(LLAMA, exported.spec.graphs['model']!);
    const opened = { source: file, graph: readGraph(file), embedder: undefined };
    return openSingleDecoder(exported, await readModelConfig(LLAMA), opened);
  },
  'a graph of ours': () => openOwn('llama'),
  'a graph of ours over packed weights': () => openOwn('llama', 8),
  'soft caps': () => openOwn('gemma2'),
  'states of recurrent layers': () => openOwn('lfm2'),
};

test.each(Object.keys(OPEN))(
  '%s: scores of a prompt are those of its tokens one by one',
  async (name) => {
    const decoder = await OPEN[name]!();
    const prompt = tokens(Math.min(LENGTH, decoder.maxPositions));
    const told = await toldScores(decoder, prompt);
    const stepped = await steppedScores(decoder, prompt);
    told.forEach((row, i) => expectClose(row, stepped[i]!));
    // What the cache of prefixes has by now is computed again, since its scores are not kept.
    expect(await toldScores(decoder, prompt)).toHaveLength(prompt.length);
  },
  60_000,
);

test('scores of a prompt take their share of the memory', async () => {
  const decoder = await openDecoder({ ...exported, cacheBytes: 2 ** 20 }, await readModelConfig(LLAMA));
  const { scored: _, ...plain } = requestFor(40);
  (await decoder.start(plain)).end();
  await expect(decoder.start({ ...plain, scored: { keptBytes: 2 ** 21 } })).rejects.toThrow(/cache/);
});
