import koffi from 'koffi';
import type { Functions } from './functions.js';

/** What the library says, which is quiet but for the reasons of failures. */
export interface LibraryLog {
  /** Lines about errors since the last call. */
  takeErrors(): string[];
}

const ERROR = 4;
const MOST_LINES = 8;
const MOST_CHARACTERS = 400;

/** @param functions those of a library whose layouts are known */
export function createLog({ llama_log_set }: Functions): LibraryLog {
  let errors: string[] = [];
  const prototype = koffi.proto('void (int32 level, const char *text, void *data)');
  // Registered for as long as the process lives: the library may write at any time.
  const callback = koffi.register((level: number, text: string) => {
    if (level !== ERROR) return;
    errors.push(text.trim().slice(0, MOST_CHARACTERS));
    errors = errors.slice(-MOST_LINES);
  }, koffi.pointer(prototype));
  llama_log_set(callback, null);
  return {
    takeErrors() {
      const taken = errors;
      errors = [];
      return taken;
    },
  };
}
