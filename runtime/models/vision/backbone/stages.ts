import * as z from 'zod';
import { GraphError } from '../../writer/errors.js';

/** Which stages of a backbone are read: fields of its configuration. */
export const stageFields = {
  out_features: z.array(z.string()).nullish(),
  out_indices: z.array(z.int()).nullish(),
};

type StageFields = z.output<z.ZodObject<typeof stageFields>>;

/**
 * The stages that are read, in their order; 0 is what the first one reads.
 * @param count of stages @throws GraphError for none, and for one that the backbone does not have
 */
export function stagesOf({ out_features, out_indices }: StageFields, count: number): number[] {
  const found = out_features?.map((name) => (name === 'stem' ? 0 : Number(/^stage(\d+)$/.exec(name)?.[1]))) ??
    out_indices?.map((index) => (index < 0 ? count + 1 + index : index)) ?? [count];
  if (found.length === 0) throw new GraphError('config.json: no stage of the backbone is read');
  if (found.some((stage) => !(stage >= 0 && stage <= count)))
    throw new GraphError('config.json: the backbone has no such stage');
  return [...new Set(found)].toSorted((a, b) => a - b);
}
