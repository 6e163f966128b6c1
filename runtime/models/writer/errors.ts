import { printable } from '../../core/printable.js';

/** Messages quote configurations and names of strangers. */
const LONGEST = 400;

/** A checkpoint that no graph can be written for; its message says why, and is short and printable. */
export class GraphError extends Error {
  override name = 'GraphError';

  constructor(message: string) {
    super(printable(message.length > LONGEST ? `${message.slice(0, LONGEST)}…` : message));
  }
}
