import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Resident bytes of a process; undefined if not on Linux. */
export function residentBytes(pid: number | undefined): number | undefined {
  return pid === undefined ? undefined : statusBytes(pid, 'VmRSS');
}

/** A field of /proc/<pid>/status in bytes, such as `RssAnon`; undefined if not on Linux. */
export function statusBytes(pid: number, name: string): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  } catch {
    // Not Linux, or the process has ended.
    return undefined;
  }
}

/** Frees tens of megabytes of garbage from the start (parsed vocabularies, schemas), which V8 would keep for long. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** Formats an amount of memory for messages. */
export const inMegabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
