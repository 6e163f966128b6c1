import { sizesOf } from '../../../../builder/plan/network/sizes.js';
import { availableMemory } from '../../../../runtime/engines/sessions/available-memory.js';
import {
  checkLength,
  encoderMemory,
} from '../../../../runtime/engines/encoders/text/encoder/encoder-memory.js';
import type { LoadRequest } from '../../../../runtime/core/load-request.js';
import type { PooledSession } from '../../../../runtime/engines/sessions/session-pool.js';

const MB = 1e6;
const used = process.memoryUsage.rss();
/** A limit that leaves about so much beside what this process holds. */
const leaving = (bytes: number) => ({ limit: used + 34 * MB + bytes, bodies: 0 });

test('room is what limit, bodies and processes leave, and never nothing', () => {
  expect(availableMemory(undefined)).toBe(Infinity);
  expect(availableMemory({ limit: 1000 * MB, bodies: 200 * MB }, 300 * MB)).toBeCloseTo(
    500 * MB - 2 ** 25,
    -1,
  );
  expect(availableMemory({ limit: 100 * MB, bodies: 0 }, 300 * MB)).toBe(2 ** 23);
});

describe('an encoder', () => {
  const sizes = sizesOf({ hidden_size: 384, intermediate_size: 1536, num_attention_heads: 12 });
  const run: PooledSession['run'] = () => Promise.reject(new Error('not called'));
  const sessions: PooledSession[] = [0, 1, 2].map((i) => ({ run, runWide: i === 0 ? run : undefined }));
  const memoryOf = (memory: LoadRequest['memory'], positions = 512) =>
    encoderMemory(sessions, { sizes, positions, memory });

  test('with room for the longest row on every session has no limit', () => {
    expect(memoryOf(undefined)).toMatchObject({ tokens: Infinity, longest: Infinity });
    expect(memoryOf(leaving(1000 * MB))).toMatchObject({ longestAnywhere: Infinity, longest: Infinity });
  });

  test('with less has long rows on the first session, and refuses what fits nowhere', () => {
    const memory = memoryOf(leaving(400 * MB), 8192);
    expect(memory.longestAnywhere).toBeLessThan(memory.longest);
    expect(memory.tokens).toBeGreaterThan(memory.longestAnywhere / 4);
    expect(() => checkLength(memory, memory.longest)).not.toThrow();
    expect(() => checkLength(memory, memory.longest + 1)).toThrow(
      /the text has \d+ tokens; in the \d+ MB of memory/,
    );
  });
});
