import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Resident bytes of a process by its pid, or undefined where the system doesn't tell (Linux does). */
export function residentBytes(pid: number | undefined): number | undefined {
  return pid === undefined ? undefined : statusBytes(pid, 'VmRSS');
}

/** A number of bytes that Linux tells of a process under a name such as `RssAnon`; undefined elsewhere. */
export function statusBytes(pid: number, name: string): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1];
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

/** How messages name an amount of memory. */
export const inMegabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
