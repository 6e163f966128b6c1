/** A checkpoint that no graph can be written for; its message says why. */
export class GraphError extends Error {
  override name = 'GraphError';
}
