import * as z from 'zod';
import { GraphError } from '../../writer/errors.js';
import { size } from '../../config-fields.js';
import { stages } from './vit-config.js';

const factor = z
  .number()
  .min(1 / 64)
  .max(64);

/** What configurations of DPT and its relatives say about what comes behind the layers. */
export const neckConfig = {
  reassemble_factors: z
    .array(factor.refine((value) => value <= 1 || Number.isInteger(value), 'no whole number'))
    .max(64)
    .default([4, 2, 1, 0.5]),
  neck_hidden_sizes: stages,
  fusion_hidden_size: size,
  head_in_index: z.int().min(-64).max(63).default(-1),
};
type NeckConfig = z.output<z.ZodObject<typeof neckConfig>>;

/** @throws GraphError where as many images are not described as states are read */
export function requireStates(
  c: Pick<NeckConfig, 'neck_hidden_sizes' | 'reassemble_factors'>,
  states: readonly unknown[],
): void {
  const [wanted, factors] = [c.neck_hidden_sizes.length, c.reassemble_factors.length];
  if (wanted === states.length && wanted <= factors) return;
  throw new GraphError(`config.json: neck_hidden_sizes are ${wanted}, but ${states.length} layers are read`);
}

/** What the head reads, in Python's way of counting. @throws GraphError */
export function headInput<T>({ head_in_index: index }: NeckConfig, found: readonly T[]): T {
  const one = found.at(index);
  if (one === undefined) throw new GraphError(`config.json: head_in_index ${index} is out of range`);
  return one;
}
