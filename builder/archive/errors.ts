import { BuilderError } from '../exit.js';

const MADE_BY = 'it must be a file of "builder export" or "docker save"';

/** An archive with contradictory or unexpected content: hostile, or made by another program. */
export function malformedArchive(name: string, what: string): BuilderError {
  return new BuilderError('failure', `${name} ${what}; ${MADE_BY}`);
}

/** An archive that is cut off or corrupt. */
export function damagedArchive(name: string, what: string, cause?: unknown): BuilderError {
  return new BuilderError('failure', `${name} ${what}; copy it again, or export it again`, { cause });
}

/** Explains a read error to the operator. Our own errors are returned unchanged. */
export function explainReadError(name: string, error: NodeJS.ErrnoException): Error {
  if (error instanceof BuilderError) return error;
  if (error.code === 'Z_BUF_ERROR' || /unexpected end/i.test(error.message))
    return damagedArchive(name, 'is cut off', error);
  if (/^(?:Z_|ZSTD_)/.test(error.code ?? ''))
    return damagedArchive(name, 'is damaged: its compression is broken', error);
  if (/invalid (?:tar )?header|header exceeds/i.test(error.message))
    return damagedArchive(name, 'is no image archive, or is damaged', error);
  if (error.code === undefined) return error;
  return new BuilderError('failure', `${name} can't be read: ${error.message}`, { cause: error });
}
