import type { AudioNetwork, ImagePart, ImageSize } from './network.js';
import { runBytes } from './run-memory.js';

const FLOAT = 4;
/** Fragmentation of the arena, as in run-memory.ts. */
const GAPS = 1.25;

/** Bytes of a run, over a graph of ours, and over an export. */
export interface RunBytes {
  own: number;
  exported: number;
}

/** The bytes that count for the graph that is served. */
export const bytesForGraph = ({ written }: { written?: unknown }, run: RunBytes): number =>
  written ? run.own : run.exported;

/** Cells of an image, one for `stride` pixels on either axis. */
export const cells = ({ height, width }: ImageSize, stride: number): number =>
  Math.ceil(height / stride) * Math.ceil(width / stride);

/**
 * Bytes of the run of a network over one image. The factors are measured on networks of real size with random weights
 * (bench/image-memory.mjs, docs/measurements.md). Used by `builder plan` and by the server's admission.
 * @param size of what the network reads
 */
export function imageRunBytes(parts: readonly ImagePart[], size: ImageSize): RunBytes {
  const numbers = parts.map((part) => numbersOf(part, size));
  const bytes = (held: number[]) => Math.round(GAPS * FLOAT * Math.max(0, ...held));
  return {
    own: bytes(numbers.map(({ own }) => own)),
    exported: bytes(numbers.map(({ own, more }) => own + more)),
  };
}

function numbersOf(part: ImagePart, size: ImageSize): { own: number; more: number } {
  const { strides, frames = 1, more = 0, states, exported = 0, exportedPairs = 0 } = part;
  const count = frames * strides.reduce((sum, stride) => sum + cells(size, stride), 0) + more;
  return { own: count * states, more: count * exported + count ** 2 * exportedPairs };
}

/** Bytes of the run of a network over so many samples; 0 where nothing is known of it. */
export function audioRunBytes(network: AudioNetwork | undefined, samples: number): number {
  if (!network) return 0;
  const { strides, widths, tensors, sizes } = network;
  let [steps, convolutions] = [samples, 0];
  for (const [i, stride] of strides.entries()) {
    steps /= stride;
    convolutions = Math.max(convolutions, steps * (widths[i] ?? widths.at(-1)!) * FLOAT * tensors);
  }
  const tokens = Math.ceil(steps);
  return Math.max(convolutions, runBytes(sizes, { tokens, attended: tokens }));
}
