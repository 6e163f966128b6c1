import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Resident bytes of a process by its pid, or undefined where the system doesn't tell (Linux does). */
export function residentBytes(pid: number | undefined): number | undefined {
  if (pid === undefined) return undefined;
  try {
    const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  } catch {
    // Not Linux, or the process has just ended.
    return undefined;
  }
}

/** Starting leaves tens of megabytes behind (parsed vocabularies, schemas), which V8 would keep until it needs the room. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}
