import { readFileSync } from 'node:fs';

/** Reads a system file with the limits of this process. */
export type ReadSystemFile = (path: string) => string | undefined;

/** Undefined if the file does not exist (not Linux, or no such cgroup controller), so there is no limit. */
export const readSystemFile: ReadSystemFile = (path) => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};
