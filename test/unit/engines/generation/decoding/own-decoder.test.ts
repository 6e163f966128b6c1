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
async function open(bits: 4 | 8 | undefined, name = 'llama'): Promise<Decoder> {
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
] as const)('texts of %s over weights of %s bits share runs', async (name, bits) => {
  const decoder = await open(bits, name);
  expect(decoder.sharesRuns).toBe(true);
  const prompts = [9, 5, 14].map((length) => Array.from({ length }, (_, i) => 5 + ((7 * i + length) % 80)));
  const together = await Promise.all(prompts.map((prompt) => greedy(decoder, prompt, 12)));
  for (const tokens of together) expect(tokens).toHaveLength(12);
  // Packed weights may differ by a step of their rounding, which changes no likely token here.
  for (const [i, prompt] of prompts.entries()) expect(await greedy(decoder, prompt, 12)).toEqual(together[i]);
});
