import { createCacheBudget } from '../../../../../runtime/engines/generation/decoding/cache-budget.js';
import { createPrefixStore } from '../../../../../runtime/engines/generation/decoding/prefix-store.js';

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

describe('the store of earlier texts', () => {
  const text = (length: number, seed = 0) => Array.from({ length }, (_, i) => seed + i);
  const cache = (length: number) => ({ length, data: [] });

  test('gives the longest common beginning, but never all of a prompt', () => {
    const store = createPrefixStore(createCacheBudget(1e6), 1);
    store.put(text(40), () => cache(40));
    store.put([...text(30), 99, 98], () => cache(32));
    expect(store.take([...text(35), 7])).toMatchObject({ length: 35, cache: { length: 40 } });
    expect(store.take([...text(30), 99, 7])).toMatchObject({ length: 31, cache: { length: 32 } });
    expect(store.take(text(40))).toMatchObject({ length: 39 });
    expect(store.take(text(10))).toBeUndefined();
    expect(store.take(text(40, 500))).toBeUndefined();
  });

  test('a text that goes on takes the place of its beginning', () => {
    const budget = createCacheBudget(1000);
    const store = createPrefixStore(budget, 1);
    store.put(text(40), () => cache(40));
    store.put(text(60), () => cache(60));
    expect(budget.free).toBe(940);
  });

  test('lives on what is left over, and makes way', () => {
    const budget = createCacheBudget(100);
    const store = createPrefixStore(budget, 1);
    store.put(text(40), () => cache(40));
    store.put(text(40, 100), () => {
      throw new Error('there is no room for a copy');
    });
    expect(budget.free).toBe(60);
    store.shrink(80);
    expect(budget.free).toBe(100);
    expect(store.take(text(41))).toBeUndefined();
  });
});
