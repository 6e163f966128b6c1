import { memoryLimit } from './memory-limit.js';
import { type ReadSystemFile, readSystemFile } from './system-file.js';

/** Tells deaths by the kernel's memory limit from others. */
export interface OomWatch {
  /** A sentence's end that names the limit, where the kernel has killed a process of this container since the start. */
  cause(): string | undefined;
}

/** Counters of the cgroup that this process is in: version 2, then version 1. */
const COUNTERS = ['/sys/fs/cgroup/memory.events', '/sys/fs/cgroup/memory/memory.oom_control'];

/** Begins to watch; to be called when the process that may die is started. */
export function watchForOom(read: ReadSystemFile = readSystemFile): OomWatch {
  const before = oomKills(read);
  return {
    cause() {
      if (oomKills(read) <= before) return undefined;
      const limit = Math.round(memoryLimit(read) / 1e6);
      return `was ended by the kernel: this container may use ${limit} MB of memory, and that was not enough (a shorter or smaller input needs less)`;
    },
  };
}

function oomKills(read: ReadSystemFile): number {
  return COUNTERS.reduce(
    (sum, path) => sum + Number(/^oom_kill (\d+)$/m.exec(read(path) ?? '')?.[1] ?? 0),
    0,
  );
}
