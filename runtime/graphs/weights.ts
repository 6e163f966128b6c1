import type { StoredTensor, WeightIndex } from '../weights/index.js';
import { GraphError } from './errors.js';
import { isReadable } from './tensors.js';

export interface NamedTensor extends StoredTensor {
  /** In the checkpoint. */
  name: string;
}

/** The tensors of a checkpoint by the names that an architecture has for them. */
export interface Weights {
  /** True where the checkpoint has it. */
  has(name: string): boolean;
  /** Shape of a tensor; undefined where there is none. */
  shapeOf(name: string): readonly number[] | undefined;
  /** @throws GraphError when there is none, or it has another shape or a type that graphs can't read */
  take(name: string, shape: readonly number[]): NamedTensor;
  /** Names in the checkpoint that have been taken. */
  used(): string[];
}

/**
 * @param prefixes of the base model, any of which may stand before its names or not: heads are saved with it, base models
 *   without, and both kinds are loaded as the other
 * @param older names for the endings of tensors: `LayerNorm.weight` was `LayerNorm.gamma`
 */
export function createWeights(
  index: WeightIndex,
  {
    prefixes = [],
    older = {},
  }: { prefixes?: readonly string[]; older?: Readonly<Record<string, string>> } = {},
): Weights {
  const taken = new Set<string>();
  const aliases = Object.entries(older);

  const forms = (name: string): string[] => {
    const endings = aliases.filter(([ending]) => name.endsWith(ending));
    const names = [name, ...endings.map(([ending, other]) => name.slice(0, -ending.length) + other)];
    return names.flatMap((one) => [
      one,
      ...prefixes.map((prefix) => (one.startsWith(prefix) ? one.slice(prefix.length) : prefix + one)),
    ]);
  };
  const find = (name: string): NamedTensor | undefined => {
    for (const form of forms(name)) {
      const stored = index.get(form);
      if (stored) return { ...stored, name: form };
    }
    return undefined;
  };

  return {
    has: (name) => find(name) !== undefined,
    shapeOf: (name) => find(name)?.shape,
    take(name, shape) {
      const found = find(name);
      if (!found) throw new GraphError(`the weights lack ${name} [${shape.join(', ')}]`);
      if (found.shape.length !== shape.length || found.shape.some((size, i) => size !== shape[i])) {
        throw new GraphError(
          `${found.name} is [${found.shape.join(', ')}], but config.json makes it [${shape.join(', ')}]`,
        );
      }
      if (!isReadable(found.type)) throw new GraphError(`${found.name} is stored as ${found.type}`);
      taken.add(found.name);
      return found;
    },
    used: () => [...taken],
  };
}
