import * as z from 'zod';

/** Fields of config.json that many architectures have, with bounds that keep a hostile one from writing for ever. */

export const size = z
  .int()
  .min(1)
  .max(2 ** 24);
export const layers = z.int().min(0).max(1024);
export const epsilon = z.number().min(0).max(1);

/** Number of labels: `id2label` counts, as in transformers, `num_labels` else. */
export const labels = {
  id2label: z.record(z.string(), z.unknown()).optional(),
  num_labels: z
    .int()
    .min(1)
    .max(2 ** 20)
    .optional(),
};

export function labelCount({ id2label, num_labels }: z.output<z.ZodObject<typeof labels>>): number {
  return id2label ? Object.keys(id2label).length : (num_labels ?? 2);
}
