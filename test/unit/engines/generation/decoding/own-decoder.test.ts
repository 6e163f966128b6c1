import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Decoder } from '../../../../../runtime/engines/generation/decoding/decoder.js';
import { openDecoder } from '../../../../../runtime/engines/generation/decoding/open-decoder.js';
import { best, ownModel } from './own-graphs.js';

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(path.join(tmpdir(), 'own-'))));
afterEach(() => rm(folder, { recursive: true }));

/** The decoder of a graph of ours, over the checkpoint or over weights of so many bits. */
async function open(name: string, bits: 4 | 8 | undefined): Promise<Decoder> {
  const model = { name, head: 'causal-lm', task: 'text-generation', bits } as const;
  const { request, config } = await ownModel(folder, model);
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

test.each([
  ['llama', undefined],
  ['llama', 8],
  ['llama', 4],
  // Its graph branches, where nobody has chosen an expert.
  ['qwen3-moe', undefined],
  ['gpt-oss', 8],
  ['lfm2', undefined],
  ['granite-mamba', undefined],
  ['mamba2', undefined],
] as const)('texts of %s over weights of %s bits share runs', async (name, bits) => {
  const decoder = await open(name, bits);
  expect(decoder.sharesRuns).toBe(true);
  const prompts = [9, 5, 14].map((length) => Array.from({ length }, (_, i) => 5 + ((7 * i + length) % 80)));
  const together = await Promise.all(prompts.map((prompt) => greedy(decoder, prompt, 12)));
  for (const tokens of together) expect(tokens).toHaveLength(12);
  // Packed weights may differ by a step of their rounding, which changes no likely token here.
  for (const [i, prompt] of prompts.entries()) expect(await greedy(decoder, prompt, 12)).toEqual(together[i]);
});

test.each(['lfm2', 'granite-mamba', 'mamba2'])(
  'a text of %s goes on from what it left behind',
  async (name) => {
    const decoder = await open(name, undefined);
    const prompt = Array.from({ length: 40 }, (_, i) => 5 + ((7 * i) % 80));
    const answer = await greedy(decoder, prompt, 6);
    // The next turn begins with all that was fed; its beginning is not computed again.
    const next = [...prompt, ...answer.slice(0, -1), 9, 8, 7];
    const afresh = await greedy(await open(name, undefined), next, 6);
    expect(await greedy(decoder, next, 6)).toEqual(afresh);
    // One that parts from it earlier is computed from its first token.
    const other = [...prompt.slice(0, 30), 9, 8, 7];
    expect(await greedy(decoder, other, 6)).toEqual(await greedy(await open(name, undefined), other, 6));
  },
);
