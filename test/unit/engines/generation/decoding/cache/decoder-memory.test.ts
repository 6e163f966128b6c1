import { sizesOf } from '../../../../../../builder/plan/network/sizes.js';
import type { LoadRequest } from '../../../../../../runtime/core/load-request.js';
import {
  checkPromptFits,
  planDecoderMemory,
} from '../../../../../../runtime/engines/generation/decoding/cache/decoder-memory.js';

const MB = 1e6;
const used = process.memoryUsage.rss();
/** A limit that leaves about so much beside what this process holds. */
const leaving = (bytes: number) => ({ limit: used + 34 * MB + bytes, bodies: 0 });

const network = sizesOf({
  ...{ hidden_size: 768, intermediate_size: 2560, num_hidden_layers: 14, num_attention_heads: 12 },
  ...{ num_key_value_heads: 4, head_dim: 64 },
});
const needs = { network, contextLength: 2048, bytesPerToken: 28_672, chunk: Infinity };
const memoryOf = (memory: LoadRequest['memory'], more = {}) =>
  planDecoderMemory({ memory, spec: { dtype: 'q8' }, cacheBytes: 2 ** 33 } as LoadRequest, {
    ...needs,
    ...more,
  });

test('sets the longest prompt aside and gives the rest to caches', () => {
  const { longestPrompt, cacheBytes, cacheLimit } = memoryOf(leaving(3000 * MB));
  expect(longestPrompt).toBe(Infinity);
  expect(cacheBytes).toBeGreaterThan(2048 * needs.bytesPerToken);
  expect(cacheBytes).toBeLessThan(1000 * MB);
  expect(cacheLimit).toMatch(/^\d+ MB of memory$/);
});

test('without a limit takes what it was given', () => {
  expect(memoryOf(undefined)).toMatchObject({ longestPrompt: Infinity, cacheBytes: 2 ** 33 });
});

test('refuses prompts that would not fit, and takes longer ones where they are fed in parts', () => {
  const whole = memoryOf(leaving(400 * MB));
  const parts = memoryOf(leaving(400 * MB), { chunk: 256 });
  expect(whole.longestPrompt).toBeGreaterThan(200);
  expect(whole.longestPrompt).toBeLessThan(parts.longestPrompt);
  expect(whole.cacheBytes).toBeGreaterThanOrEqual(whole.longestPrompt * needs.bytesPerToken * 0.99);
  expect(() => checkPromptFits(whole, whole.longestPrompt)).not.toThrow();
  expect(() => checkPromptFits(whole, whole.longestPrompt + 1)).toThrow(
    /^the prompt has \d+ tokens; in the \d+ MB of memory that this server may use there is room for \d+: shorten it/,
  );
});

test('what follows formats is set aside where the task has formats, up to half of the room', () => {
  const cacheOf = (task: string, vocabulary: number, room: number) =>
    planDecoderMemory(
      { memory: leaving(room), spec: { dtype: 'q8', task }, cacheBytes: 2 ** 33 } as LoadRequest,
      { ...needs, network: { ...network, vocabulary } },
    ).cacheBytes;
  const [chat, small, transcript] = [
    cacheOf('chat', 151_936, 3000 * MB),
    cacheOf('chat', 1000, 3000 * MB),
    cacheOf('automatic-speech-recognition', 151_936, 3000 * MB),
  ];
  expect(transcript).toBeGreaterThan(small);
  // A third of it: caches are copied.
  expect((small - chat) / ((151_936 - 1000) * 640)).toBeCloseTo(1 / 3, 1);
  expect(cacheOf('chat', 10 ** 9, 3000 * MB)).toBeGreaterThan(cacheOf('chat', 1000, 1000 * MB));
});
