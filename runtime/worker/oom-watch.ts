import { memoryLimit } from './memory-limit.js';
import { type ReadSystemFile, readSystemFile } from './system-file.js';

/** Tells whether a process was killed by the kernel's memory limit. */
export interface OomWatch {
  /** If the kernel has killed a process of this container since the start: the end of a sentence that says so. */
  cause(): string | undefined;
}

/** Files with the cgroup's OOM counters: version 2, then version 1. */
const COUNTERS = ['/sys/fs/cgroup/memory.events', '/sys/fs/cgroup/memory/memory.oom_control'];

/** Starts watching; call it when the process to watch is started. */
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
