import { join } from 'node:path';
import { readdirSync } from 'node:fs';
import koffi from 'koffi';
import { RunError } from '../../../core/errors.js';
import { checkLayouts } from './check-layouts.js';
import { FUNCTIONS, type Functions, GGML_BASE_FUNCTIONS, GGML_FUNCTIONS } from './functions.js';
import { BATCH, CONTEXT_PARAMS, type Layout, MODEL_PARAMS } from './layouts.js';
import { libraryFolder } from './library-folder.js';
import { createLog, type LibraryLog } from './log.js';

/** An address; null for none. */
export type Pointer = bigint | null;

/** The library, open and checked. */
export interface Bound {
  functions: Functions;
  log: LibraryLog;
  /** Address of a function of the C library. */
  symbol(name: string): Pointer;
}

let bound: Bound | undefined;

/**
 * Opens the library once, and compares it with what calls are made by.
 * @throws RunError `not_ready` where there is none, or another one
 */
export function bindLibrary(folder = libraryFolder()): Bound {
  return (bound ??= bind(folder));
}

function bind(folder: string): Bound {
  defineStructs();
  const names = readdirSync(folder);
  const open = (start: string) =>
    koffi.load(join(folder, fileNamed(names, start)), { global: true, lazy: true });
  // In the order in which they need each other.
  const base = open('libggml-base.');
  const ggml = open('libggml.');
  const llama = open('libllama.');
  const functions = Object.fromEntries(
    (
      [
        [base, GGML_BASE_FUNCTIONS],
        [ggml, GGML_FUNCTIONS],
        [llama, FUNCTIONS],
      ] as const
    ).flatMap(([library, list]) =>
      Object.entries(list).map(([name, signature]) => [name, library.func(signature)]),
    ),
  ) as unknown as Functions;
  checkLayouts({
    version: functions.llama_version() as string,
    model: functions.llama_model_default_params() as Record<string, unknown>,
    context: functions.llama_context_default_params() as Record<string, unknown>,
  });
  const log = createLog(functions);
  // Devices come as libraries of their own; of those for the processor the fastest that it can run.
  functions.ggml_backend_load_all_from_path(folder);
  functions.llama_backend_init();
  const libc = koffi.load('libc.so.6');
  return { functions, log, symbol: (name) => libc.symbol(name, 'void') };
}

/** Their names have versions. */
function fileNamed(names: readonly string[], start: string): string {
  const found = names.find((name) => name.startsWith(start) && name.endsWith('.so'));
  if (found !== undefined) return found;
  throw new RunError('not_ready', `the llama.cpp package here has no ${start}so; install it again`);
}

function defineStructs(): void {
  for (const [name, layout] of [
    ['llama_model_params', MODEL_PARAMS],
    ['llama_context_params', CONTEXT_PARAMS],
    ['llama_batch', BATCH],
  ] as const) {
    if (!isDefined(name)) koffi.struct(name, fieldsOf(layout));
  }
}

/** Types live as long as the process, this module in tests only as long as its file. */
function isDefined(name: string): boolean {
  try {
    koffi.type(name);
    return true;
  } catch {
    return false;
  }
}

const fieldsOf = (layout: Layout): Record<string, string> =>
  Object.fromEntries(layout.map(([field, type]) => [field, type]));

/** Runs a call on a thread of its own. */
export function inBackground<T>(
  call: { async(...args: [...unknown[], (error: Error | null, result: T) => void]): void },
  ...args: unknown[]
): Promise<T> {
  return new Promise((resolve, reject) => {
    call.async(...args, (error, result) => (error ? reject(error) : resolve(result)));
  });
}

/** Floats at an address. A view of no address would end the process. */
export function floatsAt(address: Pointer, count: number): Float32Array | undefined {
  return address === null ? undefined : new Float32Array(koffi.view(address, count * 4));
}
