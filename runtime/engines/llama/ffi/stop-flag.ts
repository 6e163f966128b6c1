import koffi from 'koffi';
import type { Bound, Pointer } from './bind.js';

export interface StopFlag {
  set(): void;
  clear(): void;
  free(): void;
}

/**
 * What ends a run early. The library asks `bool callback(void *data)` before each operation: a JavaScript function would
 * have to be called on this thread each time. `strlen` over a byte answers the same, 0 or 1, wherever it is called.
 */
export function createStopFlag({ functions, symbol }: Bound, context: Pointer): StopFlag {
  const text = koffi.alloc('char', 2) as unknown as bigint;
  const bytes = new Uint8Array(koffi.view(text, 2));
  bytes.fill(0);
  functions.llama_set_abort_callback(context, symbol('strlen'), text);
  return {
    set: () => void (bytes[0] = 1),
    clear: () => void (bytes[0] = 0),
    free: () => koffi.free(text),
  };
}
