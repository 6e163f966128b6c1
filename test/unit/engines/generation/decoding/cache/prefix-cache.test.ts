import { createCacheBudget } from '../../../../../../runtime/engines/generation/decoding/cache/cache-budget.js';
import { createPrefixCache } from '../../../../../../runtime/engines/generation/decoding/cache/prefix-cache.js';

const text = (length: number, seed = 0) => Array.from({ length }, (_, i) => seed + i);
const cache = (length: number) => ({ length, data: [], states: [] });

test('gives the longest common beginning, but never all of a prompt', () => {
  const store = createPrefixCache(createCacheBudget(1e6), { bytesPerToken: 1 });
  store.insert(text(40), () => cache(40));
  store.insert([...text(30), 99, 98], () => cache(32));
  expect(store.lookUp([...text(35), 7])).toMatchObject({ length: 35, cache: { length: 40 } });
  expect(store.lookUp([...text(30), 99, 7])).toMatchObject({ length: 31, cache: { length: 32 } });
  expect(store.lookUp(text(40))).toMatchObject({ length: 39 });
  expect(store.lookUp(text(10))).toBeUndefined();
  expect(store.lookUp(text(40, 500))).toBeUndefined();
});

test('a text that goes on takes the place of its beginning', () => {
  const budget = createCacheBudget(1000);
  const store = createPrefixCache(budget, { bytesPerToken: 1 });
  store.insert(text(40), () => cache(40));
  store.insert(text(60), () => cache(60));
  expect(budget.free).toBe(940);
});

test('lives on what is left over, and makes way', () => {
  const budget = createCacheBudget(100);
  const store = createPrefixCache(budget, { bytesPerToken: 1 });
  store.insert(text(40), () => cache(40));
  store.insert(text(40, 100), () => {
    throw new Error('there is no room for a copy');
  });
  expect(budget.free).toBe(60);
  store.evictFor(80);
  expect(budget.free).toBe(100);
  expect(store.lookUp(text(41))).toBeUndefined();
});

test('a text with states serves prompts that begin with all of it, and takes their room', () => {
  const budget = createCacheBudget(200);
  const store = createPrefixCache(budget, { bytesPerToken: 1, fixedBytes: 10, wholeOnly: true });
  store.insert(text(40), () => cache(40));
  expect(budget.free).toBe(150);
  expect(store.lookUp([...text(30), 7])).toBeUndefined();
  expect(store.lookUp(text(40))).toBeUndefined();
  expect(store.lookUp(text(41))).toMatchObject({ length: 40 });
});
