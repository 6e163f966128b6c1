import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Decoder } from '../../../../../runtime/engines/generation/decoding/decoder.js';
import { openDecoder } from '../../../../../runtime/engines/generation/decoding/open-decoder.js';
import { withChosenScores } from '../../../../../runtime/engines/generation/decoding/graph/chosen-scores.js';
import { withNewTokensOnly } from '../../../../../runtime/engines/generation/decoding/graph/decoder-graph.js';
import { cacheLayoutOf } from '../../../../../runtime/engines/generation/decoding/graph/decoder-layout.js';
import { tryDecoder } from '../../../../../runtime/engines/generation/decoding/batch/decoder-trial.js';
import { openSingleDecoder } from '../../../../../runtime/engines/generation/decoding/single/open-single-decoder.js';
import { createBatchDecoder } from '../../../../../runtime/engines/generation/decoding/batch/batch-decoder.js';
import type { StepSession } from '../../../../../runtime/engines/generation/decoding/batch/step-session.js';
import { createStepSession } from '../../../../../runtime/engines/generation/decoding/batch/step-session.js';
import { openSession } from '../../../../../runtime/engines/sessions/session.js';
import { readGraph, writeGraph } from '../../../../../runtime/onnx/graph.js';
import { branched, expectSameScores } from './support.js';
import { fixtureSpec } from '../../../../parity/load.js';
import { withOneRow } from './one-row.js';

const FIXTURES = join(import.meta.dirname, '../../../../fixtures');
const dir = join(FIXTURES, 'zoo/text-generation/llama/repo');
/** Of scripts/fixtures/decoder_graphs.py. */
const TINY = { vocab_size: 512, num_attention_heads: 4, num_key_value_heads: 2, head_dim: 16 };
const path = join(dir, 'onnx/model.onnx');
const config = JSON.parse(await readFile(join(dir, 'config.json'), 'utf8')) as Record<string, unknown>;
const request = {
  ...{ spec: fixtureSpec('text-generation', 'zoo/llama', dir), dir, device: 'cpu' as const, threads: 1 },
  ...{ workers: 0, copyWeights: false, cacheBytes: 2 ** 28, maxPixels: 1, maxSeconds: 1 },
};
const tokens = (count: number, seed: number) =>
  Array.from({ length: count }, (_, i) => (seed + 31 * i) % 500);
const best = (scores: Float32Array) => scores.indexOf(Math.max(...scores));

/** A decoder with one generation a run. */
function openSingle(given: typeof request, repository: Record<string, unknown>): Promise<Decoder> {
  const file = join(given.dir, given.spec.graphs['model']!);
  return openSingleDecoder(given, repository, {
    ...{ source: file, graph: readGraph(file), embedder: undefined },
  });
}

/** A session of the changed graph, as batches want it. */
async function openSteps(): Promise<StepSession> {
  const graph = readGraph(path);
  const layout = cacheLayoutOf(graph, config)!;
  const changed = writeGraph(withChosenScores(withNewTokensOnly(graph, layout.ports)));
  const native = await openSession(
    { bytes: changed, weightsIn: dirname(path) },
    { device: 'cpu', threads: 1 },
  );
  return createStepSession(native, layout);
}

/** Goes on with the likeliest token. */
async function greedy(decoder: Decoder, prompt: number[], count: number): Promise<number[]> {
  const request = { maxRows: 1, maxLength: prompt.length + count, signal: new AbortController().signal };
  const decoding = await decoder.start(request);
  try {
    const out = [best(await decoding.prefill({ tokens: prompt }))];
    while (out.length < count) out.push(best((await decoding.step([out.at(-1)!]))[0]!));
    return out;
  } finally {
    decoding.end();
  }
}

/** Scores of three rows that went on from one text, each its own way. */
async function branches(decoder: Decoder): Promise<number[][]> {
  const request = { maxRows: 3, maxLength: 40, signal: new AbortController().signal };
  return branched(await decoder.start(request), tokens(9, 6));
}

test('the changed graph gives new keys, values and last scores, and the same numbers', async () => {
  const session = await openSteps();
  const { layout } = session;
  const { scores, newEntries } = await session.prefill({ tokens: tokens(6, 3) }, 6, {
    ...{ length: 0, states: [] },
    data: layout.ports.map(() => new Float32Array()),
  });
  const plain = await (
    await openSingle(request, config)
  ).start({
    ...{ maxRows: 1, maxLength: 10, signal: new AbortController().signal },
  });
  expect(scores).toEqual([await plain.prefill({ tokens: tokens(6, 3) })]);
  expect(newEntries.map(({ length }) => length)).toEqual(
    layout.ports.map(({ heads, width }) => heads * 6 * width),
  );
  expect(await tryDecoder(session, config)).toEqual({ sharesRuns: true, chunkedPrefill: true });
});

describe.each([
  ['plain attention', 'zoo/text-generation/llama/repo/onnx/model.onnx'],
  ['dynamically quantised products', 'graphs/llama_quantized.onnx'],
  ['attention that writes into the cache', 'graphs/llama_fused.onnx'],
  ['attention over a sliding window', 'graphs/llama_window.onnx'],
])('%s', (_, file) => {
  const graph = join(FIXTURES, file);
  const tiny = file.includes('zoo') || file.includes('quantized') ? config : TINY;
  const given = {
    ...request,
    ...{ dir: dirname(graph), spec: { ...request.spec, graphs: { model: basename(graph) } } },
  };

  test('generations that run together get what each gets alone', async () => {
    const plain = await openSingle(given, tiny);
    const decoder = await openDecoder(given, tiny);
    expect(decoder.sharesRuns).toBe(true);
    const prompts = [tokens(4, 1), tokens(17, 5), tokens(40, 9), tokens(1, 2), tokens(33, 7)];
    const alone: number[][] = [];
    for (const prompt of prompts) alone.push(await greedy(plain, prompt, 24));
    expect(await Promise.all(prompts.map((prompt) => greedy(decoder, prompt, 24)))).toEqual(alone);
  });
});

test('a prompt in parts gets what it gets whole', async () => {
  // A vocabulary that large has its prompts fed 16 tokens at a time.
  const large = { ...config, vocab_size: 2 ** 24 };
  const [decoder, plain] = [await openDecoder(request, large), await openSingle(request, large)];
  const whole = await openDecoder(request, config);
  const answer = await greedy(whole, tokens(40, 9), 12);
  expect(await greedy(decoder, tokens(40, 9), 12)).toEqual(answer);
  expect(await greedy(plain, tokens(40, 9), 12)).toEqual(answer);
});

test('a prompt that begins like an earlier text is fed from where they part', async () => {
  const session = await openSteps();
  const fed: number[] = [];
  const counting: StepSession = {
    ...session,
    prefill(prompt, count, cache) {
      fed.push(count);
      return session.prefill(prompt, count, cache);
    },
  };
  const decoder = createBatchDecoder({
    ...{ session: counting, sharesRuns: true, chunkedPrefill: true, chunk: 256 },
    ...{ inputNames: [], maxPositions: Infinity, contextLength: undefined },
    memory: { cacheBytes: 2 ** 28, longestPrompt: Infinity, cacheLimit: 'CACHE_BYTES', limit: undefined },
  });
  const first = await greedy(decoder, tokens(30, 4), 8);
  const next = [...tokens(30, 4), ...first.slice(0, 5), 17, 18, 19];
  const fresh = await openDecoder(request, config);
  const answer = await greedy(decoder, next, 8);
  expect(answer).toEqual(await greedy(fresh, next, 8));
  expect(fed).toEqual([30, 3]);
  // One token behind an earlier text is a step like those of others.
  expect(await greedy(decoder, [...next, answer[0]!], 7)).toEqual(answer.slice(1));
  expect(fed).toEqual([30, 3]);
});

test('rows that branch go on from the same text', async () => {
  const [decoder, plain] = [await openDecoder(request, config), await openSingle(request, config)];
  const [ours, theirs] = [await branches(decoder), await branches(plain)];
  expectSameScores(ours, theirs);
});

test('a graph made for one row gets its rows one after the other', async () => {
  await withOneRow(path, async (folder, single) => {
    const spec = { ...request.spec, graphs: { model: single } };
    const decoder = await openDecoder({ ...request, dir: folder, spec }, config);
    expect(decoder.sharesRuns).toBe(false);
    const [ours, theirs] = [await branches(decoder), await branches(await openSingle(request, config))];
    expectSameScores(ours, theirs);
  });
});

test('a graph with a table of positions is used up to its last one, also in company', async () => {
  const spec = { ...request.spec, graphs: { model: 'llama_fused.onnx' } };
  const given = { ...request, dir: join(FIXTURES, 'graphs'), spec };
  const [decoder, plain] = [await openDecoder(given, TINY), await openSingle(given, TINY)];
  expect([decoder.maxPositions, plain.maxPositions]).toEqual([256, 256]);
  const runs = [tokens(216, 1), tokens(5, 5)].map((prompt) => [prompt, 256 - 216 + 1] as const);
  const alone = await Promise.all(runs.map(([prompt, count]) => greedy(plain, prompt, count)));
  expect(await Promise.all(runs.map(([prompt, count]) => greedy(decoder, prompt, count)))).toEqual(alone);
});

test('where quantised products mix rows, generations take turns', async () => {
  const graphs = join(FIXTURES, 'graphs');
  const gpt2 = { vocab_size: 512, n_head: 2, n_embd: 32, n_positions: 128 };
  const given = {
    ...request,
    dir: graphs,
    spec: { ...request.spec, graphs: { model: 'gpt2_quantized.onnx' } },
  };
  const [decoder, plain] = [await openDecoder(given, gpt2), await openSingle(given, gpt2)];
  expect(decoder.sharesRuns).toBe(false);
  const prompts = [tokens(4, 1), tokens(17, 5), tokens(40, 9)];
  const alone: number[][] = [];
  for (const prompt of prompts) alone.push(await greedy(plain, prompt, 24));
  expect(await Promise.all(prompts.map((prompt) => greedy(decoder, prompt, 24)))).toEqual(alone);
});

test('a generation that needs more cache than is left is refused before it begins', async () => {
  const decoder = await openDecoder({ ...request, cacheBytes: 2 ** 14 }, config);
  const signal = new AbortController().signal;
  const taken = await decoder.start({ maxRows: 1, maxLength: 20, signal });
  await expect(decoder.start({ maxRows: 1, maxLength: 30, signal })).rejects.toMatchObject({
    code: 'overloaded',
  });
  await expect(decoder.start({ maxRows: 16, maxLength: 60, signal })).rejects.toMatchObject({
    code: 'unprocessable',
  });
  taken.end();
  (await decoder.start({ maxRows: 1, maxLength: 30, signal })).end();
});

test('a generation that can wait begins when another one ends', async () => {
  const decoder = await openDecoder({ ...request, cacheBytes: 2 ** 14 }, config);
  const { signal } = new AbortController();
  const taken = await decoder.start({ maxRows: 1, maxLength: 20, signal });
  const waiting = decoder.start({ maxRows: 1, maxLength: 30, waits: true, signal });
  await new Promise(setImmediate);
  taken.end();
  (await waiting).end();
});
