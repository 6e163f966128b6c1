import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeFile } from '../../../../../builder/pack/make-file.js';
import { writeOwnGraphs } from '../../../../../builder/plan/own-graphs.js';
import type { ModelSpec } from '../../../../../runtime/core/spec.js';
import type { Decoder } from '../../../../../runtime/engines/generation/decoding/decoder.js';
import { openDecoder } from '../../../../../runtime/engines/generation/decoding/open-decoder.js';
import { folderSource } from '../../../../../runtime/store/folder.js';

const REPO = path.join(import.meta.dirname, '../../../../fixtures/graph-models/llama');
const best = (scores: Float32Array) => scores.indexOf(Math.max(...scores));

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(path.join(tmpdir(), 'own-'))));
afterEach(() => rm(folder, { recursive: true }));

/** The decoder of a graph of ours, over the checkpoint or over weights of so many bits. */
async function open(bits: 4 | 8 | undefined): Promise<Decoder> {
  const source = folderSource(REPO);
  const info = await source.info('zoo/m');
  const own = await writeOwnGraphs({ source, info, head: 'causal-lm', modelType: 'llama', bits });
  if (!('graphs' in own)) throw new Error(own.problem);
  if (own.toMake)
    await makeFile(path.join(folder, own.files[0]!.path), { from: REPO, recipe: own.toMake.recipe });
  else for (const file of own.files) await copyFile(path.join(REPO, file.path), path.join(folder, file.path));
  const spec: ModelSpec = {
    ...{ specVersion: 1, id: 'zoo/m', revision: 'main', commit: '0'.repeat(40), task: 'text-generation' },
    ...{ engine: 'generation', profile: 'text', dtype: own.dtype },
    ...{ graphs: own.graphs, files: own.files, written: own.written },
  };
  const config = JSON.parse(await readFile(path.join(REPO, 'config.json'), 'utf8')) as Record<
    string,
    unknown
  >;
  const limits = { cacheBytes: 2 ** 26, maxPixels: 1, maxSeconds: 1 };
  const request = {
    spec,
    dir: folder,
    device: 'cpu' as const,
    threads: 1,
    workers: 0,
    copyWeights: false,
    ...limits,
  };
  return openDecoder(request, config);
}

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

test.each([undefined, 8, 4] as const)('texts over weights of %s bits share runs', async (bits) => {
  const decoder = await open(bits);
  expect(decoder.sharesRuns).toBe(true);
  const prompts = [9, 5, 14].map((length) => Array.from({ length }, (_, i) => 5 + ((7 * i + length) % 80)));
  const together = await Promise.all(prompts.map((prompt) => greedy(decoder, prompt, 12)));
  for (const tokens of together) expect(tokens).toHaveLength(12);
  // Packed weights may differ by a step of their rounding, which changes no likely token here.
  for (const [i, prompt] of prompts.entries()) expect(await greedy(decoder, prompt, 12)).toEqual(together[i]);
});
