import { createLimits } from '../../../gateway/limits/limits.js';
import type { OwnLimits } from '../../../gateway/limits/own-limits.js';
import { memoryStore } from '../../../gateway/limits/store.js';

/** Tokens that are taken one after the other at these times, in milliseconds. */
function taking(bucket: { calls: number; seconds: number }) {
  let now = 1e9;
  const store = memoryStore(() => now);
  return (atMs: number) => {
    now = 1e9 + atMs;
    return store.take('k', 'call', bucket);
  };
}

test('a full bucket gives all at once; then one comes at a time, and no more are saved up than fit', () => {
  const take = taking({ calls: 3, seconds: 6 });
  expect([0, 0, 0, 0].map(take)).toEqual([
    { waitMs: 0, remaining: 2 },
    { waitMs: 0, remaining: 1 },
    { waitMs: 0, remaining: 0 },
    { waitMs: 2000, remaining: 0 },
  ]);
  expect(take(1999)).toMatchObject({ waitMs: expect.closeTo(1, 3) });
  expect([2000, 2000].map(take)).toMatchObject([{ waitMs: 0 }, { waitMs: 2000 }]);
  expect([1e6, 1e6, 1e6, 1e6].map(take)).toMatchObject([0, 0, 0, 2000].map((waitMs) => ({ waitMs })));
});

test.each([
  [1, 1],
  [7, 0.3],
  [600, 60],
  [1000, 3],
])('%d calls in %d s: the first ones at once, and as many again in that time', (calls, seconds) => {
  const take = taking({ calls, seconds });
  let taken = 0;
  for (let i = 0; i <= 10 * calls; i++) {
    const at = (i / (10 * calls)) * seconds * 1000;
    for (let more = 0; more < (i === 0 ? 2 * calls : 2); more++)
      if ((take(at) as { waitMs: number }).waitMs === 0) taken++;
  }
  expect(taken).toBe(2 * calls);
});

test('keys have buckets of their own, and a refused call holds no place', async () => {
  const limits = createLimits({ calls: 1, seconds: 60, concurrent: 5 });
  await limits.enter('a');
  for (let i = 0; i < 10; i++)
    await expect(limits.enter('a')).rejects.toMatchObject({ code: 'rate_limited', retryAfter: 60 });
  expect(await limits.enter('b')).toMatchObject({ limit: 1, remaining: 0 });
});

test('the cap holds for calls that arrive while others are still being counted', async () => {
  let answer!: () => void;
  const slow = new Promise<void>((resolve) => (answer = resolve));
  const ended: string[] = [];
  const limits = createLimits(
    { calls: 100, seconds: 1, concurrent: 2 },
    {
      take: () => slow.then(() => ({ waitMs: 0, remaining: 5 })),
      end: (_, callId) => void ended.push(callId),
      close: () => {},
    },
  );
  const calls = [1, 2, 3].map(() => limits.enter('a'));
  answer();
  const results = await Promise.allSettled(calls);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
  (await calls[0]!).release();
  expect(ended).toHaveLength(1);
  await expect(limits.enter('a')).resolves.toMatchObject({ remaining: 5 });
});

test('a key’s own limits stand in place of those of all, and a rate that is changed starts full', async () => {
  const limits = createLimits({ calls: 2, seconds: 60, concurrent: 1 });
  const enter = async (own?: OwnLimits) => {
    const { limit, remaining, release } = await limits.enter('a', own);
    release();
    return [limit, remaining];
  };
  expect(await enter()).toEqual([2, 1]);
  expect(await enter({ concurrent: 9 })).toEqual([2, 0]);
  await expect(enter()).rejects.toMatchObject({ code: 'rate_limited' });
  const own = { rate: { calls: 5, seconds: 1000 } };
  expect([await enter(own), await enter(own)]).toEqual([
    [5, 4],
    [5, 3],
  ]);
  const held = await limits.enter('a', own);
  await expect(enter(own)).rejects.toMatchObject({ code: 'rate_limited', retryAfter: 1 });
  expect(await enter({ ...own, concurrent: 2 })).toEqual([5, 1]);
  held.release();
  // What was spent of the gateway's rate stays spent.
  await expect(enter()).rejects.toMatchObject({ code: 'rate_limited' });
});
