import * as z from 'zod';

const MAX_LABELS = 1024;

/** The labels that flag a text, each with the least score that does. */
export const moderationFlags = z
  .record(z.string().min(1), z.number().min(0).max(1))
  .refine((flags) => Object.keys(flags).length > 0, 'must name a label at least')
  .refine((flags) => Object.keys(flags).length <= MAX_LABELS, `must name ${MAX_LABELS} labels at most`);
