import { totalmem } from 'node:os';
import { cacheBytesFor, memoryLimit } from '../../../runtime/worker/memory-limit.js';

const files = (contents: Record<string, string>) => (path: string) => contents[path];

test.each([
  ['version 2', { '/sys/fs/cgroup/memory.max': '1073741824\n' }, 2 ** 30],
  ['version 2 without a limit', { '/sys/fs/cgroup/memory.max': 'max\n' }, totalmem()],
  ['version 1', { '/sys/fs/cgroup/memory/memory.limit_in_bytes': '536870912\n' }, 2 ** 29],
  [
    'version 1 without a limit',
    { '/sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712' },
    totalmem(),
  ],
  ['none', {}, totalmem()],
])('cgroup %s', (_, contents, expected) => {
  expect(memoryLimit(files(contents as Record<string, string>))).toBe(expected);
});

test('caches get a quarter of what weights and server leave, but enough for something', () => {
  const gibi = 2 ** 30;
  expect(cacheBytesFor(gibi, 8 * gibi)).toBe(Math.floor((8 - 1.3 - 0.5) * (gibi / 4)));
  expect(cacheBytesFor(8 * gibi, 8 * gibi)).toBe(64 * 2 ** 20);
});
