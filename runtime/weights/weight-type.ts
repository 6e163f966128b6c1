import { quoted, WeightsError } from './errors.js';
import type { StoredTensor, WeightType } from './types.js';

const WEIGHT_TYPES: ReadonlySet<string> = new Set<WeightType>([
  'F64',
  'F32',
  'F16',
  'BF16',
  'I64',
  'I32',
  'I16',
  'I8',
  'U8',
  'BOOL',
]);

/**
 * The type of a tensor that a graph is to use in place.
 * @throws WeightsError unsupported-type
 */
export function weightTypeOf(name: string, { file, type }: Pick<StoredTensor, 'file' | 'type'>): WeightType {
  if (WEIGHT_TYPES.has(type)) return type as WeightType;
  throw new WeightsError(file, {
    code: 'unsupported-type',
    what: `has ${quoted(name)} as ${type}, which can't be used in place`,
    remedy: 'take a repository with the weights as F32, F16 or BF16',
  });
}
