import { availableParallelism } from 'node:os';
import { type ReadSystemFile, readSystemFile } from './system-file.js';

/**
 * CPUs that the container may use: the cgroup's CPU quota, rounded up, and at most the CPUs of the machine. Node
 * considers cpusets but not quotas (`docker run --cpus`).
 */
export function usableThreads(read: ReadSystemFile = readSystemFile): number {
  return Math.max(1, Math.min(availableParallelism(), Math.ceil(quotaOf(read))));
}

/** The same rounded down: CPUs that are there whenever they are wanted, one at least. */
export function wholeCores(read: ReadSystemFile = readSystemFile): number {
  return Math.max(1, Math.min(availableParallelism(), Math.floor(quotaOf(read))));
}

const quotaOf = (read: ReadSystemFile): number =>
  quotaV2(read('/sys/fs/cgroup/cpu.max')) ?? quotaV1(read) ?? Infinity;

/** cgroup v2: "<quota µs|max> <period µs>". */
function quotaV2(text: string | undefined): number | undefined {
  const [quota, period] = (text ?? '').trim().split(/\s+/).map(Number);
  return quota && period ? quota / period : undefined;
}

/** cgroup v1: two files; a quota of -1 means none. */
function quotaV1(read: ReadSystemFile): number | undefined {
  const quota = Number(read('/sys/fs/cgroup/cpu/cpu.cfs_quota_us'));
  const period = Number(read('/sys/fs/cgroup/cpu/cpu.cfs_period_us'));
  return quota > 0 && period > 0 ? quota / period : undefined;
}
