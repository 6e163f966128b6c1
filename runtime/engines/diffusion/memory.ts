import { RunError } from '../../core/errors.js';
import { inMegabytes } from '../../memory.js';
import type { LoadRequest } from '../../core/load-request.js';
import { availableMemory } from '../sessions/available-memory.js';

/**
 * Watches that runs fit into the memory that is left once the model is open.
 * @returns throws a RunError 422 for runs that take more
 */
export function createRoom({ memory }: LoadRequest): (bytes: number) => void {
  const available = availableMemory(memory);
  return (bytes) => {
    if (bytes <= available) return;
    throw new RunError(
      'unprocessable',
      `an image of this size takes ${inMegabytes(bytes)}; in the ${inMegabytes(memory!.limit)} of memory that this server ` +
        `may use there are ${inMegabytes(available)}: ask for less with params.height and params.width, or give the server more memory`,
    );
  };
}

/** Whether the builder wrote the graphs, whose attention holds no scores of all pairs. */
export const hasOwnGraphs = ({ spec }: Pick<LoadRequest, 'spec'>): boolean => spec.written !== undefined;
