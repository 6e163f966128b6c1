import type { StoredTensor, WeightIndex } from '../../weights/index.js';
import { GraphError } from './errors.js';
import { isReadable } from './tensors.js';

export interface NamedTensor extends StoredTensor {
  /** In the checkpoint. */
  name: string;
}

/**
 * The tensors of a checkpoint by the names that an architecture has for them. `name[3]` is the fourth of those that one tensor
 * is made of along its first axis, as experts of a mixture may be stored.
 */
export interface Weights {
  /** True where the checkpoint has it. */
  has(name: string): boolean;
  /** Shape of a tensor; undefined where there is none. */
  shapeOf(name: string): readonly number[] | undefined;
  /** True for a matrix that another tool has packed: it is [rows, columns] as products read it. */
  isPacked(name: string): boolean;
  /** What the checkpoint calls a tensor; undefined where there is none. */
  nameOf(name: string): string | undefined;
  /** @throws GraphError when there is none, or it has another shape or a type that graphs can't read */
  take(name: string, shape: readonly number[]): NamedTensor;
  /** Names in the checkpoint that have been taken. */
  used(): string[];
}

/** What checkpoints call the tensors of an architecture. */
export interface TensorNames {
  /**
   * Of the base model, any of which may stand before its names or not: heads are saved with it, base models without, and
   * both kinds are loaded as the other.
   */
  prefixes?: readonly string[];
  /** Former endings of names: `LayerNorm.weight` was `LayerNorm.gamma`. */
  older?: Readonly<Record<string, string>>;
  /**
   * Of models that are put together of others: beginnings of the parts' own names, and what stands in their place, one of
   * several.
   */
  parts?: Readonly<Record<string, readonly string[]>>;
}

/** Endings of the weights and biases of layers, ours to those of files. */
export const layerEndings = (names: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(names).flatMap(([ours, stored]) =>
      ['weight', 'bias'].map((kind) => [`${ours}.${kind}`, `${stored}.${kind}`]),
    ),
  );

interface Found extends NamedTensor {
  /** Name of the tensor that it is, or is a part of. */
  stored: string;
}

const MEMBER = /^(.+)\[(\d+)\]$/;

/** One of the tensors that a tensor is made of along its first axis; undefined where there are not so many. */
function memberOf<T extends StoredTensor>(stack: T, place: number): T | undefined {
  const { shape, offset, length, blocks, merge } = stack;
  const [count = 0, ...rest] = shape;
  if (place >= count || merge) return undefined;
  const each = length / count;
  const part = { ...stack, shape: rest, offset: offset + place * each, length: each };
  if (blocks?.layout === 'ggml') return part;
  const scales = blocks?.layout === 'mxfp4' ? memberOf(blocks.scales, place) : undefined;
  if (blocks && !scales) return undefined;
  return blocks?.layout === 'mxfp4' ? { ...part, blocks: { ...blocks, scales: scales! } } : part;
}

/** Matrices of one expert, as files of transformers 4 name them. */
const EXPERT = /^(.+\.experts)\.(\d+)\.(gate_proj|up_proj|down_proj|w[123])\.weight$/;

/** Where a matrix lies in the stacks of all experts: `gate_up_proj` has the rows of the gate before the others. */
const IN_STACK: Readonly<Record<string, { stack: string; half?: 0 | 1 }>> = {
  ...{ gate_proj: { stack: 'gate_up_proj', half: 0 }, w1: { stack: 'gate_up_proj', half: 0 } },
  ...{ up_proj: { stack: 'gate_up_proj', half: 1 }, w3: { stack: 'gate_up_proj', half: 1 } },
  ...{ down_proj: { stack: 'down_proj' }, w2: { stack: 'down_proj' } },
};

/** The first or the second half of a matrix's rows. */
function halfOf(matrix: Found, half: 0 | 1): Found | undefined {
  const { shape, offset, length, name, blocks } = matrix;
  const [rows = 0, ...rest] = shape;
  if (rows % 2 !== 0 || blocks) return undefined;
  const each = length / 2;
  const place = { offset: offset + half * each, length: each, shape: [rows / 2, ...rest] };
  return { ...matrix, ...place, name: `${name}[half ${half}]` };
}

export function createWeights(
  index: WeightIndex,
  { prefixes = [], older = {}, parts = {} }: TensorNames = {},
): Weights {
  const taken = new Set<string>();
  const aliases = Object.entries(older);
  const positions = Object.entries(parts);

  const placed = (name: string): string[] => {
    const part = positions.find(([start]) => name.startsWith(start));
    return part ? part[1].map((other) => other + name.slice(part[0].length)) : [name];
  };

  const forms = (name: string): string[] => {
    const endings = aliases.filter(([ending]) => name.endsWith(ending));
    const names = [name, ...endings.map(([ending, other]) => name.slice(0, -ending.length) + other)];
    return names
      .flatMap(placed)
      .flatMap((one) => [
        one,
        ...prefixes.map((prefix) => (one.startsWith(prefix) ? one.slice(prefix.length) : prefix + one)),
      ]);
  };
  const whole = (name: string): NamedTensor | undefined => {
    for (const form of forms(name)) {
      const stored = index.get(form);
      if (stored) return { ...stored, name: form };
    }
    return undefined;
  };
  const named = (name: string): Found | undefined => {
    const [, stack, place] = MEMBER.exec(name) ?? [];
    const found = whole(stack ?? name);
    if (!found || place === undefined) return found && { ...found, stored: found.name };
    const member = memberOf(found, Number(place));
    return member && { ...member, name: `${found.name}[${place}]`, stored: found.name };
  };

  /** Tools that write what version 5 has in memory leave the experts of a layer in one stack. */
  const inStack = (name: string): Found | undefined => {
    const [, experts, place, part] = EXPERT.exec(name) ?? [];
    const { stack, half } = IN_STACK[part ?? ''] ?? {};
    const matrix = stack && named(`${experts}.${stack}[${place}]`);
    return matrix && half !== undefined ? halfOf(matrix, half) : matrix || undefined;
  };
  const find = (name: string): Found | undefined => named(name) ?? inStack(name);

  return {
    has: (name) => find(name) !== undefined,
    shapeOf: (name) => find(name)?.shape,
    isPacked: (name) => find(name)?.blocks !== undefined,
    nameOf: (name) => find(name)?.name,
    take(name, shape) {
      const found = find(name);
      if (!found) throw new GraphError(`the weights lack ${name} [${shape.join(', ')}]`);
      if (found.shape.length !== shape.length || found.shape.some((size, i) => size !== shape[i])) {
        throw new GraphError(
          `${found.name} is [${found.shape.join(', ')}], but config.json makes it [${shape.join(', ')}]`,
        );
      }
      if (!isReadable(found.type) && !found.blocks)
        throw new GraphError(`${found.name} is stored as ${found.type}`);
      const { stored, ...tensor } = found;
      taken.add(stored);
      return tensor;
    },
    used: () => [...taken],
  };
}
