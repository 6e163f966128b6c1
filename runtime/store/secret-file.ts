import { readFileSync } from 'node:fs';

/** Longer than any secret; the variable may name any file. */
const MAX_LENGTH = 2 ** 20;

/**
 * Reads the secret in the file that a variable names, trimmed; empty if the file is empty.
 * @param problem creates the error for a file that can't be read; its message names the variable but no content
 */
export function readSecretFile(
  variable: string,
  file: string,
  createError: (message: string) => Error,
): string {
  try {
    return readFileSync(file, 'utf8').slice(0, MAX_LENGTH).trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw createError(`${variable} names a file that can't be read (${code})`);
  }
}
