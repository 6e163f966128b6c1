import { GraphError } from './errors.js';

/** Protobuf would cut fractions off and write NaN as 0: a number that a configuration leads to is checked before. */

/** @throws GraphError where it is no integer that JavaScript holds exactly */
export function integer(value: number): number {
  if (Number.isSafeInteger(value) || value === 2 ** 53) return value;
  throw new GraphError(`config.json leads to a size of ${value}, which is no integer`);
}

/** @throws GraphError where it can't be a size of a tensor */
export function tensorSize(value: number): number {
  if (integer(value) >= 0) return value;
  throw new GraphError(`config.json leads to a size of ${value}, which is negative`);
}

/** @throws GraphError where it is none as float32 */
export function finiteFloat(value: number): number {
  if (Number.isFinite(Math.fround(value))) return value;
  throw new GraphError(`config.json leads to ${value}, which is no number in float32`);
}
