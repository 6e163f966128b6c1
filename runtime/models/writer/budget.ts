import { LARGEST_GRAPH } from '../../core/spec.js';
import { GraphError } from './errors.js';

/** A network of a thousand layers has half of it, and so many are written within a second. */
const MOST_NODES = 2 ** 17;

/** Keeps a graph from growing without bounds: few tensors may be named for any number of layers. */
export interface GraphBudget {
  /** @throws GraphError once there are too many */
  node(): void;
  /** @throws GraphError once they are too many */
  bytes(count: number): void;
}

export function createBudget(mostNodes = MOST_NODES, mostBytes = LARGEST_GRAPH): GraphBudget {
  let [nodes, bytes] = [0, 0];
  return {
    node() {
      if (++nodes > mostNodes)
        throw new GraphError(`config.json makes a graph of more than ${mostNodes} nodes`);
    },
    bytes(count) {
      bytes += count;
      if (bytes > mostBytes)
        throw new GraphError(`config.json makes a graph of more than ${mostBytes} bytes`);
    },
  };
}
