import type { SessionHost } from './host.js';
import type { Tensors } from './tensors.js';

/** What the two sides of a session thread say to each other: each call has one answer with the same id. */
export interface HostCall {
  id: number;
  method: keyof SessionHost;
  args: unknown[];
}

export type HostReply = { id: number; result: unknown } | { id: number; error: string };

/** The memory of tensors, to be handed over instead of copied. Each tensor has its own. */
export function buffersOf(tensors: Tensors): ArrayBuffer[] {
  return Object.values(tensors)
    .map(({ data }) => (data as Float32Array).buffer)
    .filter((buffer) => buffer instanceof ArrayBuffer);
}
