import { readFileSync } from 'node:fs';

/** Resident bytes of a process by its pid, or undefined where the system doesn't tell (Linux does). */
export function residentBytes(pid: number | undefined): number | undefined {
  if (pid === undefined) return undefined;
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
    return pages * 4096;
  } catch {
    // Not Linux, or the process has just ended.
    return undefined;
  }
}
