import { jest } from '@jest/globals';
import type { InferenceSession } from 'onnxruntime-node';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Precision } from '../../../../../runtime/core/load-request.js';
import { withFastProducts } from '../../../../../runtime/engines/generation/decoding/batch/fast-products.js';
import type { StepSession } from '../../../../../runtime/engines/generation/decoding/batch/step-session.js';
import type { Decoder } from '../../../../../runtime/engines/generation/decoding/decoder.js';
import { openDecoder } from '../../../../../runtime/engines/generation/decoding/open-decoder.js';
import { correlation } from '../../../../../runtime/engines/sessions/correlation.js';
import { type Graph, readGraph, readGraphBytes, writeGraph } from '../../../../../runtime/onnx/graph.js';
import { withIntegerProducts } from '../../../../../runtime/onnx/integer-products.js';
import { intAttribute } from '../../../../../runtime/onnx/make.js';
import { ownModel } from './own-graphs.js';
import { expectSameScores } from './support.js';
import { fixtureSpec } from '../../../../parity/load.js';

const GRAPHS = join(import.meta.dirname, '../../../../fixtures/graphs');
const LLAMA = join(import.meta.dirname, '../../../../fixtures/zoo/text-generation/llama/repo');
/** Of scripts/fixtures/decoder_graphs.py. */
const CONFIG = { vocab_size: 128, num_attention_heads: 4, num_key_value_heads: 2, head_dim: 16 };
const request = {
  spec: {
    ...fixtureSpec('text-generation', 'zoo/llama', LLAMA),
    graphs: { model: 'llama_q4.onnx' },
    written: [],
  },
  ...{ dir: GRAPHS, device: 'cpu' as const, threads: 1, workers: 0, copyWeights: false },
  ...{ cacheBytes: 2 ** 28, maxPixels: 1, maxSeconds: 1 },
};
const tokens = (count: number, seed: number) =>
  Array.from({ length: count }, (_, i) => (seed + 31 * i) % 128);

const numbers = (texts: Float32Array[][]) => texts.map((scores) => scores.flatMap((row) => [...row]));

let said: jest.SpiedFunction<typeof process.stderr.write>;
beforeEach(() => {
  said = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
});
afterEach(() => said.mockRestore());

const openAs = (precision: Precision | undefined) => openDecoder({ ...request, precision }, CONFIG);

/** The scores of a prompt, and of the likeliest tokens after it. */
async function written(decoder: Decoder, prompt: number[], count: number): Promise<Float32Array[]> {
  const decoding = await decoder.start({
    ...{ maxRows: 1, maxLength: prompt.length + count, signal: new AbortController().signal },
  });
  try {
    const scores = [(await decoding.prefill({ tokens: prompt })).slice()];
    for (let i = 0; i < count; i++) {
      const last = scores.at(-1)!;
      scores.push((await decoding.step([last.indexOf(Math.max(...last))]))[0]!.slice());
    }
    return scores;
  } finally {
    decoding.end();
  }
}

test('products of packed weights become integers, whose scores are nearly the same', async () => {
  const [exact, fast, unsaid] = [await openAs('exact'), await openAs('fast'), await openAs(undefined)];
  const [plain, rounded, other] = [
    await written(exact, tokens(12, 3), 0),
    await written(fast, tokens(12, 3), 0),
    await written(unsaid, tokens(12, 3), 0),
  ];
  expect(other).toEqual(plain);
  expect(rounded).not.toEqual(plain);
  expect(correlation(plain[0]!, rounded[0]!)).toBeGreaterThan(0.999);
  const notes = said.mock.calls
    .map(([text]) => String(text))
    .filter((text) => text.includes('packed weights'));
  expect(notes).toEqual([expect.stringContaining('as integers (correlation')]);
});

test('generations that run together get what each gets alone', async () => {
  const decoder = await openAs('fast');
  expect(decoder.sharesRuns).toBe(true);
  const prompts = [tokens(4, 1), tokens(17, 5), tokens(30, 9), tokens(1, 2)];
  const alone: Float32Array[][] = [];
  for (const prompt of prompts) alone.push(await written(decoder, prompt, 20));
  const together = await Promise.all(prompts.map((prompt) => written(decoder, prompt, 20)));
  expectSameScores(numbers(together), numbers(alone));
});

test('an export that says how its products are computed is left as it is', () => {
  const graph = readGraph(join(GRAPHS, 'llama_q4.onnx'));
  const products = (of: Graph) => of.nodes.filter(({ op }) => op === 'MatMulNBits');
  const say = (level: number): Graph => ({
    ...graph,
    nodes: graph.nodes.map((node) =>
      node.op === 'MatMulNBits'
        ? { ...node, otherFields: [...node.otherFields, intAttribute('accuracy_level', level)] }
        : node,
    ),
  });
  const changed = withIntegerProducts(graph);
  expect(products(changed)).toEqual(products(say(4)));
  expect(withIntegerProducts(changed)).toBe(changed);
  // 0: the operator may choose.
  expect(products(withIntegerProducts(say(0)))).toEqual(products(changed));
  const floats = readGraphBytes(writeGraph(say(1)));
  expect(withIntegerProducts(floats)).toBe(floats);
});

test('experts, which are branches of a graph of ours, are products like others', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'experts-'));
  const model = { name: 'gpt-oss-mxfp4', head: 'causal-lm', task: 'text-generation' } as const;
  const { request: own, config } = await ownModel(folder, model);
  const graph = readGraphBytes(Buffer.from(own.spec.written![0]!.content, 'base64'));
  const count = (of: Graph) =>
    Buffer.from(writeGraph(of)).toString('latin1').split('accuracy_level').length - 1;
  expect(count(graph)).toBe(0);
  const changed = withIntegerProducts(graph);
  // Three experts of two matrices, each the sum of two.
  expect(count(changed)).toBe(12);
  expect(withIntegerProducts(changed)).toBe(changed);
  const decoder = await openDecoder({ ...own, precision: 'fast' }, config);
  expect(decoder.sharesRuns).toBe(true);
  rmSync(folder, { recursive: true });
});

test('where scores would become others, products stay as they are', async () => {
  const graph = readGraph(join(GRAPHS, 'llama_q4.onnx'));
  const log: string[] = [];
  const fake = (name: string, slope: number) => ({
    native: { release: async () => void log.push(`release ${name}`) } as unknown as InferenceSession,
    session: {
      layout: { ports: [], type: 'float32' },
      prefill: async () => ({
        scores: [Float32Array.of(1, 2, 3, 4 * slope)],
        tokens: 1,
        newEntries: [],
        newStates: [],
      }),
    } as unknown as StepSession,
  });
  const open = async (given: Graph) => {
    const name = given === graph ? 'exact' : 'fast';
    log.push(`open ${name}`);
    return fake(name, name === 'exact' ? 1 : 1.2);
  };
  const form = { graph, config: CONFIG, open };
  await withFastProducts({ ...request, precision: 'fast' }, fake('exact', 1), form);
  expect(log).toEqual(['release exact', 'open fast', 'release fast', 'open exact']);
  expect(said).toHaveBeenCalledWith(expect.stringContaining('lose too much'));
});

test.each([
  ['the setting says so', { precision: 'exact' as const, device: 'cpu' as const }],
  ['a GPU computes', { precision: 'fast' as const, device: 'cuda' as const }],
])('nothing is tried where %s', async (_, given) => {
  const graph = readGraph(join(GRAPHS, 'llama_q4.onnx'));
  const opened = { native: {}, session: {} } as Awaited<ReturnType<typeof withFastProducts>>;
  const open = () => Promise.reject(new Error('opened'));
  expect(await withFastProducts({ ...request, ...given }, opened, { graph, config: CONFIG, open })).toBe(
    opened,
  );
});
