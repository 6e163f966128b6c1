import * as z from 'zod';

/** Kinds of media that stand in blocks of messages. */
export type BlockKind = 'image' | 'audio' | 'video';

const textBlock = z.object({ type: z.literal('text'), text: z.string() });

const address = z.string().min(1).optional();

export interface MediaBlockInput {
  type: BlockKind;
  url?: string | undefined;
  base64?: string | undefined;
}

/** A block of a kind, whose name is another name of url and base64. */
function mediaBlock(kind: BlockKind) {
  return z
    .object({ type: z.literal(kind), url: address, base64: address, [kind]: address })
    .refine((block) => (block.url ?? block.base64 ?? named(block, kind)) !== undefined, {
      message: 'needs "url" or "base64"',
    })
    .transform((block): MediaBlockInput => {
      const { url, base64 } = block;
      const source = { ...(url === undefined ? {} : { url }), ...(base64 === undefined ? {} : { base64 }) };
      const given = named(block, kind);
      if (given === undefined || url !== undefined || base64 !== undefined) return { type: kind, ...source };
      return { type: kind, ...(/^https?:/i.test(given) ? { url: given } : { base64: given }) };
    });
}

const named = (block: object, kind: BlockKind) => (block as Partial<Record<BlockKind, string>>)[kind];

/** A string, an array of blocks and strings, or a single block. */
export function contentOf(kinds: readonly BlockKind[]) {
  const media = z.union(kinds.map(mediaBlock));
  const block = z.union([
    textBlock,
    media,
    z.string().transform((text) => ({ type: 'text' as const, text })),
  ]);
  return z.union([z.string(), z.array(block), z.union([textBlock, media]).transform((one) => [one])]);
}

export type BlockInput = z.output<typeof textBlock> | MediaBlockInput;
