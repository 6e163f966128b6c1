import { GraphError } from './errors.js';
import type { Storage } from './storage.js';
import { ELEMENTS, externalTensor, storedElement } from './tensors.js';
import type { Weights } from './weights.js';

interface StoredWeights {
  weights: Weights;
  storage: Storage;
  /** Adds a constant to the graph. */
  initialize(tensor: Uint8Array): void;
  /** A tensor of the checkpoint as float32. */
  asFloat(name: string): string;
  node(op: string, inputs: readonly string[], attributes?: { to: number }): string;
}

/** As GraphWriter has them. */
interface TensorReader {
  weight(name: string, shape: readonly number[]): string;
  rows(name: string, shape: readonly [number, number], ids: string): string;
}

/** How a graph reads tensors of a checkpoint, each of which it names once. */
export function createStoredWeights({
  weights,
  storage,
  initialize,
  asFloat,
  node,
}: StoredWeights): TensorReader {
  const named = new Set<string>();
  const cast = new Map<string, string>();

  function stored(name: string, shape: readonly number[]): { own: string; isFloat: boolean } {
    const tensor = weights.take(name, shape);
    const { name: own, blocks } = tensor;
    // Blocks of ggml need nothing beside them to be floats again.
    const type = blocks ? 'F32' : tensor.type;
    if (blocks && blocks.layout !== 'ggml')
      throw new GraphError(`${own} is packed, and this network reads it whole`);
    if (!named.has(own)) {
      const element = storedElement(type);
      initialize(externalTensor({ name: own, shape: tensor.shape, element, place: storage.place(tensor) }));
    }
    named.add(own);
    return { own, isFloat: type === 'F32' };
  }

  return {
    weight(name, shape) {
      const { own, isFloat } = stored(name, shape);
      if (isFloat) return own;
      const value = cast.get(own) ?? asFloat(own);
      cast.set(own, value);
      return value;
    },
    rows(name, shape, ids) {
      const { own, isFloat } = stored(name, shape);
      const found = node('Gather', [own, ids]);
      return isFloat ? found : node('Cast', [found], { to: ELEMENTS.float32 });
    },
  };
}
