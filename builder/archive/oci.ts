import * as z from 'zod';
import { malformedArchive } from './errors.js';
import { type ArchiveImage, blobDigest } from './manifest.js';
import type { Archive } from './read.js';
import { parseStrictJson } from './strict-json.js';

const descriptor = z.object({
  digest: z.string(),
  platform: z.object({ os: z.string().optional(), architecture: z.string().optional() }).nullish(),
});

const index = z.object({ manifests: z.array(descriptor).nullish() });
const manifest = z.object({ config: descriptor, layers: z.array(descriptor).nullish() });

/** Most levels of nested indexes. */
const MAX_DEPTH = 4;

/**
 * Engines with the containerd store load the image of index.json, others that of manifest.json; both must be the same.
 * Entries of the index that the archive lacks can't be loaded and are ignored.
 * @throws BuilderError for an archive that is two images
 */
export function requireSingleImage(name: string, archive: Archive<unknown>, image: ArchiveImage): void {
  const root = archive.documents.get('index.json');
  if (root) visit({ name, archive, image }, root, 0);
}

interface Checking {
  name: string;
  archive: Archive<unknown>;
  image: ArchiveImage;
}

function visit(checking: Checking, text: Buffer, depth: number): void {
  const { name, archive, image } = checking;
  const content = parsed(name, text);
  const one = manifest.safeParse(content);
  if (one.success) {
    const layers = one.data.layers?.map(({ digest }) => blobName(digest)) ?? [];
    const members = image.layers.map(({ member }) => member);
    if (one.data.config.digest !== image.id || layers.join() !== members.join())
      throw malformedArchive(name, 'has an index.json that leads to another image than its manifest.json');
    return;
  }
  const several = index.safeParse(content);
  if (!several.success || depth > MAX_DEPTH) throw malformedArchive(name, 'has an index.json that is none');
  for (const { digest, platform } of several.data.manifests ?? []) {
    const named = archive.documents.get(blobName(digest));
    // Attestations of builders have the platform "unknown".
    if (named === undefined || platform?.os === 'unknown') continue;
    if (blobDigest(named) !== digest)
      throw malformedArchive(name, `has another content than its name says, ${digest}`);
    visit(checking, named, depth + 1);
  }
}

const blobName = (digest: string) => `blobs/${digest.replace(':', '/')}`;

function parsed(name: string, text: Buffer): unknown {
  try {
    return parseStrictJson(text.toString('utf8'));
  } catch (error) {
    throw malformedArchive(name, `has an index.json that can't be read: ${(error as Error).message}`);
  }
}
