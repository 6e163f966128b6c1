import { RunError } from '../../../core/errors.js';
import { CONTEXT_PARAMS, type Layout, LLAMA_VERSION, MODEL_PARAMS } from './layouts.js';

/** What a library says of itself. */
export interface Defaults {
  version: string;
  model: Readonly<Record<string, unknown>>;
  context: Readonly<Record<string, unknown>>;
}

/**
 * Compares the library with the layouts that calls are made by: with a field in another place, calls would read and write
 * memory that is not theirs.
 * @throws RunError `not_ready` that names the first difference
 */
export function checkLayouts({ version, model, context }: Defaults): void {
  if (version !== LLAMA_VERSION) throw wrongLibrary(`it is version ${version}`);
  for (const [struct, layout, found] of [
    ['llama_model_params', MODEL_PARAMS, model],
    ['llama_context_params', CONTEXT_PARAMS, context],
  ] as const) {
    const differing = firstDifference(layout, found);
    if (differing !== undefined)
      throw wrongLibrary(`${struct}.${differing} is ${String(found[differing])} by default`);
  }
}

function firstDifference(layout: Layout, found: Readonly<Record<string, unknown>>): string | undefined {
  return layout.find(([name, , expected]) => expected !== undefined && found[name] !== expected)?.[0];
}

const wrongLibrary = (what: string): RunError =>
  new RunError(
    'not_ready',
    `the llama.cpp library is not the one that this server was made for (${LLAMA_VERSION}): ${what}; ` +
      'install the packages of this version again',
  );
