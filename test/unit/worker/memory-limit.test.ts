import { totalmem } from 'node:os';
import {
  cacheBytesFor,
  memoryFor,
  memoryLimit,
  pendingBytesFor,
} from '../../../runtime/worker/memory-limit.js';

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

test('bodies under way get a small part of the memory, one body at least, and keep their copies from the engine', () => {
  const [mebi, gibi] = [2 ** 20, 2 ** 30];
  expect(pendingBytesFor(4 * mebi, gibi)).toBe(32 * mebi);
  expect(pendingBytesFor(48 * mebi, gibi)).toBe(48 * mebi);
  expect(pendingBytesFor(4 * mebi, 64 * gibi)).toBe(512 * mebi);
  expect(memoryFor(10 * mebi, gibi)).toEqual({ limit: gibi, bodies: 30 * mebi });
});
