import type { GgufMetadata, GgufModel, GgufTensor, GgufValue } from '../../../runtime/gguf/index.js';
import { printable } from '../../../runtime/core/printable.js';
import { WeightsError } from '../../../runtime/weights/index.js';

export type Json = Record<string, unknown>;

/** What the metadata of a model say, with the beginning of its architecture's keys left out: `block_count`. */
export interface GgufFacts {
  /** Path of its first part, for messages. */
  file: string;
  architecture: string;
  metadata: GgufMetadata;
  tensors: ReadonlyMap<string, GgufTensor & { file: string }>;
  /** @throws WeightsError where it is missing or no whole number */
  count(key: string): number;
  /** A whole number, or undefined; of a list with one number for each layer the one that all have. */
  optionalCount(key: string): number | undefined;
  optionalNumber(key: string): number | undefined;
  optionalText(key: string): string | undefined;
  value(key: string): GgufValue | undefined;
  /** Those that were asked for. */
  readKeys: ReadonlySet<string>;
  has(tensor: string): boolean;
  /** Sizes of a tensor. @throws WeightsError where it is missing */
  shapeOf(tensor: string): readonly number[];
  refuse(what: string, remedy?: string): WeightsError;
}

const REMEDY = 'take another file of the model, or a repository with its PyTorch weights';

export function ggufFacts({ metadata, tensors: list, files }: GgufModel): GgufFacts {
  const file = files[0]!;
  const refuse = (what: string, remedy = REMEDY) =>
    new WeightsError(file, { code: 'metadata', what, remedy });
  const architecture = metadata.get('general.architecture');
  if (typeof architecture !== 'string') throw refuse('does not say its architecture (general.architecture)');
  const tensors = new Map(list.map((tensor) => [tensor.name, tensor]));
  const readKeys = new Set<string>();
  const value = (key: string) => {
    readKeys.add(key);
    return metadata.get(`${architecture}.${key}`);
  };
  const plain = (key: string): GgufValue | undefined => {
    const found = value(key);
    if (typeof found !== 'object') return found;
    const [first] = found;
    const same = [...found].every((one) => one === first);
    if (!same)
      throw refuse(`has another ${key} for each layer, which graphs can't be written for`, LLAMA_REMEDY);
    return first;
  };
  const optionalNumber = (key: string): number | undefined => {
    const found = plain(key);
    if (found === undefined) return undefined;
    if (typeof found === 'number' && Number.isFinite(found)) return found;
    throw refuse(`has no number as ${printable(architecture)}.${key}`);
  };
  const optionalCount = (key: string): number | undefined => {
    const found = optionalNumber(key);
    if (found === undefined || Number.isInteger(found)) return found;
    throw refuse(`has no whole number as ${printable(architecture)}.${key}`);
  };
  return {
    ...{ file, architecture, metadata, tensors, readKeys },
    ...{ refuse, value, optionalNumber, optionalCount },
    count(key) {
      const found = optionalCount(key);
      if (found === undefined) throw refuse(`has no ${printable(architecture)}.${key}`);
      return found;
    },
    optionalText(key) {
      const found = value(key);
      return typeof found === 'string' ? found : undefined;
    },
    has: (name) => tensors.has(name),
    shapeOf(name) {
      const found = tensors.get(name);
      if (!found) throw refuse(`has no tensor ${name}`);
      return found.shape;
    },
  };
}

/** For what llama.cpp computes and graphs of ours don't. */
export const LLAMA_REMEDY = 'leave it to llama.cpp with --engine llama';
