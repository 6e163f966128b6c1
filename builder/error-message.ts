import { RunError } from '../runtime/core/errors.js';
import { StoreError } from '../runtime/store/errors.js';
import { BuilderError } from './exit.js';

/** Our own errors are one line; anything else is a bug and gets its stack trace. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isExpected =
    error instanceof BuilderError || error instanceof StoreError || error instanceof RunError;
  return isExpected ? error.message : (error.stack ?? error.message);
}

/** What a table has room for. */
export const firstLine = (text: string): string => text.split('\n', 1)[0]!;
