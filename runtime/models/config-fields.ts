import * as z from 'zod';
import { transformersMajor } from '../hub-config/version.js';

/** Fields of config.json that many architectures have, with bounds that keep a hostile one from writing for ever. */

export const size = z
  .int()
  .min(1)
  .max(2 ** 24);
export const layers = z.int().min(0).max(1024);
export const epsilon = z.number().min(0).max(1);

/** For networks that the two versions of transformers compute in different ways. */
export const library = { transformers_version: z.string().nullable().default('4.0') };

/** True for a file of version 5: such networks are computed as the version that wrote the file does. */
export const isOfVersion5 = (c: z.output<z.ZodObject<typeof library>>): boolean =>
  (transformersMajor(c) ?? 4) >= 5;

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

/** For `refine`: a list by layers, where there is one, has an entry for each of them. */
export const eachLayerIn = <Name extends string>(name: Name) =>
  [
    (c: { num_hidden_layers: number } & { [N in Name]?: readonly unknown[] | null | undefined }) =>
      (c[name]?.length ?? Infinity) >= c.num_hidden_layers,
    { message: 'leaves out layers', path: [name] as string[] },
  ] as const;

/** For `refine`: attention whose keys have as many heads as its queries. */
export const equalHeads = [
  (c: { num_attention_heads: number; num_key_value_heads?: number | null | undefined }): boolean =>
    (c.num_key_value_heads ?? c.num_attention_heads) === c.num_attention_heads,
  { message: 'other than num_attention_heads are not known', path: ['num_key_value_heads'] },
] satisfies [unknown, object];
