import { readFileSync } from 'node:fs';

/** Reads a file in which the system says what this process may use. */
export type ReadSystemFile = (path: string) => string | undefined;

/** Undefined where there is none: not Linux, or no such controller, and so no limit. */
export const readSystemFile: ReadSystemFile = (path) => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};
