import type { SessionHost } from './host.js';
import type { Tensors } from './tensors.js';

/** What the two sides of a session thread say to each other: each call has one answer with the same id. */
export interface HostCall {
  id: number;
  method: keyof SessionHost;
  args: unknown[];
}

export type HostReply = { id: number; result: unknown } | { id: number; error: string };

/**
 * The memory of tensors, to be handed over instead of copied. Each tensor has its own.
 * @throws Error for memory that was handed over before: such a message would never be answered
 */
export function buffersOf(tensors: Tensors): ArrayBuffer[] {
  return Object.entries(tensors).flatMap(([name, { data, dims }]) => {
    const { buffer } = data as Float32Array;
    if (!(buffer instanceof ArrayBuffer)) return [];
    // What is left of a buffer that was handed over has no length.
    if (data.length === 0 && !dims.includes(0))
      throw new Error(`the memory of ${name} was handed over to a session before`);
    return [buffer];
  });
}
