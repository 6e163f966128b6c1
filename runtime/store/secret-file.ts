import { readFileSync } from 'node:fs';

/** More than any secret has: a variable may name anything. */
const LARGEST = 2 ** 20;

/**
 * The secret in the file that a variable names, without the space around it; empty where the file is.
 * @param problem makes the error of a file that can't be read; it gets the variable's name, and nothing of the file
 */
export function readSecretFile(variable: string, file: string, problem: (message: string) => Error): string {
  try {
    return readFileSync(file, 'utf8').slice(0, LARGEST).trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw problem(`${variable} names a file that can't be read (${code})`);
  }
}
