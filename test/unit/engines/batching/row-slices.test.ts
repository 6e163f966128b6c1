import { mapInSlices } from '../../../../runtime/engines/batching/row-slices.js';

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const out: T[] = [];
  for await (const item of items) out.push(item);
  return out;
}

test('gives results in order, with a bounded number under way', async () => {
  let [running, most] = [0, 0];
  const run = async (item: number) => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, (item * 7) % 5));
    running--;
    return item * 2;
  };
  const items = Array.from({ length: 150 }, (_, i) => i);
  expect(await collect(mapInSlices(items, run))).toEqual(items.map((item) => item * 2));
  expect(most).toBe(64);
});

test('begins nothing after a failure, and takes no more items than it needs', async () => {
  let [taken, begun] = [0, 0];
  function* endless() {
    for (;;) yield taken++;
  }
  const run = async (item: number) => {
    begun++;
    if (item === 70) throw new Error('cancelled');
    return item;
  };
  await expect(collect(mapInSlices(endless(), run))).rejects.toThrow('cancelled');
  expect([taken, begun]).toEqual([128, 128]);
});
