import { z } from 'zod';

/** Most pictures of one conversation. */
export const MAX_PICTURES = 64;

const textBlock = z.object({ type: z.literal('text'), text: z.string() });

const address = z.string().min(1).optional();

/** `image` is another name of url and base64. */
const imageBlock = z
  .object({ type: z.literal('image'), url: address, base64: address, image: address })
  .refine(({ url, base64, image }) => (url ?? base64 ?? image) !== undefined, {
    message: 'needs "url" or "base64"',
  })
  .transform(({ image, ...block }) => {
    if (image === undefined || block.url !== undefined || block.base64 !== undefined) return block;
    return { type: block.type, ...(/^https?:/i.test(image) ? { url: image } : { base64: image }) };
  });

const block = z.union([
  textBlock,
  imageBlock,
  z.string().transform((text) => ({ type: 'text' as const, text })),
]);

/** A string, an array of blocks and strings, or a single block. */
export const content = z.union([
  z.string(),
  z.array(block),
  z.union([textBlock, imageBlock]).transform((one) => [one]),
]);

export type PictureContent = z.output<typeof block>;
