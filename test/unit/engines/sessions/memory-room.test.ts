import { memoryRoom } from '../../../../runtime/engines/sessions/memory-room.js';
import {
  checkPromptFits,
  planDecoderMemory,
} from '../../../../runtime/engines/generation/decoding/cache/decoder-memory.js';
import {
  checkLength,
  encoderMemory,
} from '../../../../runtime/engines/encoders/text/encoder/encoder-memory.js';
import type { LoadRequest } from '../../../../runtime/core/load-request.js';
import type { Lane } from '../../../../runtime/engines/sessions/lanes.js';

const MB = 1e6;
const used = process.memoryUsage.rss();
/** A limit that leaves about so much beside what this process holds. */
const leaving = (bytes: number) => ({ limit: used + 34 * MB + bytes, bodies: 0 });

test('room is what limit, bodies and processes leave, and never nothing', () => {
  expect(memoryRoom(undefined)).toBe(Infinity);
  expect(memoryRoom({ limit: 1000 * MB, bodies: 200 * MB }, 300 * MB)).toBeCloseTo(500 * MB - 2 ** 25, -1);
  expect(memoryRoom({ limit: 100 * MB, bodies: 0 }, 300 * MB)).toBe(2 ** 23);
});

describe('a decoder', () => {
  const config = {
    ...{ hidden_size: 768, intermediate_size: 2560, num_hidden_layers: 14, num_attention_heads: 12 },
    ...{ num_key_value_heads: 4, head_dim: 64 },
  };
  const needs = { config, contextLength: 2048, bytesPerToken: 28_672, chunk: Infinity };
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
});

describe('an encoder', () => {
  const config = { hidden_size: 384, intermediate_size: 1536, num_attention_heads: 12 };
  const run: Lane['run'] = () => Promise.reject(new Error('not called'));
  const lanes: Lane[] = [0, 1, 2].map((i) => ({ run, runWide: i === 0 ? run : undefined }));
  const memoryOf = (memory: LoadRequest['memory'], positions = 512) =>
    encoderMemory(lanes, { config, positions, memory });

  test('with room for the longest row on every lane has no limit', () => {
    expect(memoryOf(undefined)).toMatchObject({ tokens: Infinity, longest: Infinity });
    expect(memoryOf(leaving(1000 * MB))).toMatchObject({ longestAnywhere: Infinity, longest: Infinity });
  });

  test('with less has long rows on the first lane, and refuses what fits nowhere', () => {
    const memory = memoryOf(leaving(400 * MB), 8192);
    expect(memory.longestAnywhere).toBeLessThan(memory.longest);
    expect(memory.tokens).toBeGreaterThan(memory.longestAnywhere / 4);
    expect(() => checkLength(memory, memory.longest)).not.toThrow();
    expect(() => checkLength(memory, memory.longest + 1)).toThrow(
      /the text has \d+ tokens; in the \d+ MB of memory/,
    );
  });
});
