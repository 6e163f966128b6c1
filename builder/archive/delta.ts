import * as z from 'zod';
import { malformedArchive } from './errors.js';
import type { Archive } from './read.js';

const diffId = z.string().regex(/^sha256:[0-9a-f]{64}$/);

const deltaSchema = z.object({
  version: z.literal(1),
  /** The image that results on the target machine. */
  image: z.object({ id: diffId, names: z.array(z.string()) }),
  /** Image that the target machine should have. */
  base: z.object({ id: z.string(), name: z.string() }),
  /** Diff IDs of the layers that the file lacks. */
  needs: z.array(diffId),
  /** Layers in the file. */
  layers: z.array(z.object({ diffId, member: z.string(), size: z.number() })),
});

/** delta.json of a file that holds only some layers of its image. */
export type Delta = z.infer<typeof deltaSchema>;

/** @returns undefined for a full archive. @throws BuilderError when delta.json and image don't belong together */
export function deltaOf(archive: Archive<unknown>, name: string): Delta | undefined {
  if (!archive.delta) return undefined;
  const parsed = deltaSchema.safeParse(json(archive.delta));
  if (!parsed.success) throw malformedArchive(name, 'has a delta.json that this version does not know');
  const delta = parsed.data;
  const [image, ...others] = archive.images;
  if (others.length > 0 || image!.id !== delta.image.id)
    throw malformedArchive(name, 'has a delta.json of another image');
  const named = new Set([...delta.needs, ...delta.layers.map(({ diffId }) => diffId)]);
  for (const layer of image!.layers) {
    if (!named.has(layer.diffId))
      throw malformedArchive(name, `neither has nor needs the layer ${layer.diffId}`);
  }
  return delta;
}

function json(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString('utf8'));
  } catch {
    return undefined;
  }
}
