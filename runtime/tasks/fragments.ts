import * as z from 'zod';
import { RunError } from '../core/errors.js';

/** Names that are accepted in any case, as in Python. */
export function anyCase<T extends z.ZodEnum>(names: T) {
  return z.preprocess((value) => (typeof value === 'string' ? value.toLowerCase() : value), names);
}

/** `params: {...}`: strict, so that an unknown name is a 400 that names it; absent means "all defaults". */
export function params<S extends z.ZodRawShape>(shape: S) {
  return z.strictObject(shape).prefault({} as never);
}

/** `top_k` of the classification pipelines: how many rows; null or -1-free "all" as in Python. */
export const topK = z.int().min(1).nullable().optional();

export const labelScore = z.object({ label: z.string(), score: z.number() });

/** How logits become scores; by default according to the training of the checkpoint. */
export const functionToApply = anyCase(z.enum(['softmax', 'sigmoid', 'none'])).nullish();

/** Files that every model for text needs besides its graph. */
export const TOKENIZER_FILES = ['tokenizer.json', 'tokenizer_config.json', 'special_tokens_map.json'];

/** An image, audio or video by address or in Base64. url takes precedence if both are given. */
export const media = {
  url: z.string().min(1).optional().describe('http(s) address of the file'),
  base64: z.string().min(1).optional().describe('the file as a data URL or bare Base64'),
};

/** Requires url or base64. */
export function withMedia<S extends z.ZodRawShape>(shape: S) {
  return z
    .object({ ...media, ...shape })
    .refine((body) => 'url' in body || 'base64' in body, { message: 'needs "url" or "base64"', path: [] });
}

/** A corner box in whole pixels of the image that was given. */
export const box = z.object({ xmin: z.int(), ymin: z.int(), xmax: z.int(), ymax: z.int() });

export const detection = z.object({ score: z.number(), label: z.string(), box });

/** Least score of what is kept. */
export const threshold = (standard: number) =>
  z
    .number()
    .nullish()
    .transform((value) => value ?? standard)
    .describe(`least score, ${standard} by default`);

export const base64Png = z.string().describe('PNG in Base64');

/** Files that say how images are prepared. */
export const PROCESSOR_FILES = ['preprocessor_config.json', 'processor_config.json'];

export const maxLength = z
  .int()
  .min(1)
  .nullish()
  .describe('longest input in tokens; the model’s limit by default');

/** Long texts are always truncated, as with truncation in Python, which fails without it. */
export const truncation = z
  .union([z.literal(true), z.enum(['longest_first', 'only_first'])])
  .nullish()
  .describe('long texts are always cut');

/** As `truncation`; a text that is too long can also be refused. */
export const truncationOrRefusal = z
  .union([z.boolean(), z.enum(['longest_first', 'only_first'])])
  .nullish()
  .describe('false: a text that is too long is refused; by default it is cut');

/** `do_not_truncate` where one of these says so. */
export const refusalOf = (...given: unknown[]) =>
  given.includes(false) ? ('do_not_truncate' as const) : undefined;

/** What fills up a text that is alone in its run, where nothing looks at it. */
export const padding = z
  .union([z.boolean(), z.enum(['longest', 'max_length', 'do_not_pad'])])
  .nullish()
  .describe('the answer is the same');

/** Keyword arguments of the tokenizer under which it gives the same tokens, fewer, or refuses a long text. */
export const tokenizerArguments = z
  .strictObject({
    truncation: truncationOrRefusal,
    max_length: z.int().min(1).nullish(),
    add_special_tokens: z.boolean().nullish(),
    // One text is its own longest.
    padding: z.union([z.boolean(), z.enum(['longest', 'do_not_pad'])]).nullish(),
  })
  .nullish();

export const embedding = z.array(z.number());

const firstNumbers = z.int().min(1).nullish();

/** How many numbers of a vector are kept. */
export const cuts = {
  truncate_dim: firstNumbers.describe('keep the first numbers only'),
  dimensions: firstNumbers.describe(
    'keep the first numbers only, and scale them to length 1 again where the model’s vectors have it, as OpenAI does',
  ),
};

/** @throws RunError 400 where both are given */
export function cutOf({ truncate_dim, dimensions }: Partial<Record<keyof typeof cuts, number | null>>) {
  if (truncate_dim != null && dimensions != null)
    throw new RunError('invalid_input', 'params.dimensions: give it or truncate_dim');
  return { truncateDim: dimensions ?? truncate_dim ?? undefined, renormalize: dimensions != null };
}
