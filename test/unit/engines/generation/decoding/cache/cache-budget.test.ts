import { createCacheBudget } from '../../../../../../runtime/engines/generation/decoding/cache/cache-budget.js';
import { createPrefixCache } from '../../../../../../runtime/engines/generation/decoding/cache/prefix-cache.js';

test('bytes are set aside until there are none left, and come back', () => {
  const budget = createCacheBudget(100);
  const first = budget.reserve(60);
  expect(() => budget.reserve(50)).toThrow(expect.objectContaining({ code: 'overloaded', retryAfter: 5 }));
  first.release();
  expect(budget.free).toBe(100);
  expect(budget.reserve(100).bytes).toBe(100);
});

test('what never fits is refused for good', () => {
  expect(() => createCacheBudget(100).reserve(101)).toThrow(
    expect.objectContaining({ code: 'unprocessable', message: expect.stringContaining('CACHE_BYTES') }),
  );
});

test('a reservation grows while there is room, and is released whole', () => {
  const budget = createCacheBudget(100);
  const reserved = budget.reserve(10);
  reserved.grow(40);
  reserved.grow(20);
  expect(budget.free).toBe(60);
  const other = budget.reserve(60);
  expect(() => reserved.grow(41)).toThrow(expect.objectContaining({ code: 'overloaded' }));
  other.release();
  reserved.release();
  reserved.release();
  expect(budget.free).toBe(100);
});

describe('who can wait', () => {
  const { signal } = new AbortController();

  test('gets in as others end, in the order of arrival', async () => {
    const budget = createCacheBudget(100);
    const first = budget.reserve(70);
    const entered: string[] = [];
    const large = budget.reserveInTurn(60, signal).then((held) => (entered.push('large'), held));
    const small = budget.reserveInTurn(10, signal).then((held) => (entered.push('small'), held));
    await new Promise(setImmediate);
    expect([entered, budget.waiting]).toEqual([[], 2]);
    first.release();
    const held = await Promise.all([large, small]);
    expect(entered).toEqual(['large', 'small']);
    for (const each of held) each.release();
    expect([budget.free, budget.waiting]).toEqual([100, 0]);
  });

  test('does not wait for what never comes', async () => {
    await expect(createCacheBudget(100).reserveInTurn(101, signal)).rejects.toMatchObject({
      code: 'unprocessable',
    });
  });

  test('leaves the line with its signal, holds nothing, and lets the next one in', async () => {
    const budget = createCacheBudget(100);
    const first = budget.reserve(50);
    const caller = new AbortController();
    const left = budget.reserveInTurn(100, caller.signal);
    const next = budget.reserveInTurn(50, signal);
    caller.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    (await next).release();
    first.release();
    expect([budget.free, budget.waiting]).toEqual([100, 0]);
    await expect(budget.reserveInTurn(1, caller.signal)).rejects.toThrow('left');
  });

  test('is not kept waiting by texts that have ended', async () => {
    const budget = createCacheBudget(100);
    const [one, two] = [budget.reserve(60), budget.reserve(40)];
    const store = createPrefixCache(budget, { bytesPerToken: 1 });
    const waiting = budget.reserveInTurn(100, signal);
    one.release();
    store.insert(
      Array.from({ length: 20 }, (_, i) => i),
      () => ({ length: 20, data: [], states: [] }),
    );
    two.release();
    expect((await waiting).bytes).toBe(100);
  });
});
