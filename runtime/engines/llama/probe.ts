import { describe } from '../../core/errors.js';
import { openLlama } from './ffi/native-llama.js';

/** @returns why llama.cpp can't use a GPU here; undefined where it can */
export function probeLlama(): string | undefined {
  try {
    const found = openLlama().devices();
    if (found.some(({ kind }) => kind === 'gpu' || kind === 'igpu')) return undefined;
    return 'llama.cpp finds no GPU here (no driver, or none is given to this container)';
  } catch (error) {
    return describe(error);
  }
}
