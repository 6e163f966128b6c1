import type { AnyArchitecture } from './architecture.js';
import { bert } from './architectures/bert.js';
import { llama } from './architectures/llama.js';

/** Families that graphs are written for. */
export const ARCHITECTURES: readonly AnyArchitecture[] = [bert, llama];

/** @param modelType of config.json */
export function architectureOf(modelType: string | undefined): AnyArchitecture | undefined {
  return ARCHITECTURES.find(({ modelTypes }) => modelTypes.includes(modelType ?? ''));
}
