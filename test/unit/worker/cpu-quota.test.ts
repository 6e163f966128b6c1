import { availableParallelism } from 'node:os';
import { usableThreads } from '../../../runtime/worker/cpu-quota.js';

const reading = (files: Record<string, string>) => usableThreads((path) => files[path]);
const V1 = '/sys/fs/cgroup/cpu/cpu.cfs_';
const all = availableParallelism();

test.each([
  ['no quota', {}, all],
  ['max', { '/sys/fs/cgroup/cpu.max': 'max 100000\n' }, all],
  ['half a core', { '/sys/fs/cgroup/cpu.max': '50000 100000\n' }, 1],
  ['a core and a half', { '/sys/fs/cgroup/cpu.max': '150000 100000\n' }, Math.min(2, all)],
  ['more than there is', { '/sys/fs/cgroup/cpu.max': '99900000 100000' }, all],
  ['half a core, v1', { [`${V1}quota_us`]: '50000', [`${V1}period_us`]: '100000' }, 1],
  ['none, v1', { [`${V1}quota_us`]: '-1', [`${V1}period_us`]: '100000' }, all],
])('threads under a quota: %s', (_, files, threads) => expect(reading(files)).toBe(threads));
