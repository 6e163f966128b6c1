import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { firstBytes, decompress } from './compression.js';
import { requireEndMark } from './end-mark.js';
import { explainReadError, malformedArchive } from './errors.js';
import { type ArchiveDocuments, type ArchiveImage, imagesOf } from './manifest.js';
import { type Member, members } from './members.js';

/** An archive of images, from `docker save`, `builder export` or a file of these. */
export interface ArchiveSource {
  /** Name of the file or image, for errors. */
  name: string;
  /** Opens a new stream; gzip, zstd or plain. */
  open(): Promise<Readable>;
}

export interface Archive<T> {
  images: ArchiveImage[];
  /** Its small members by name: configurations, manifests, indexes. */
  documents: ReadonlyMap<string, Buffer>;
  /** Results of `onLayer`, by the layer's member. */
  layers: Map<string, T>;
  /** delta.json, if the archive is a delta. */
  delta: Buffer | undefined;
}

/** Largest document of an image. */
const MAX_DOCUMENT_BYTES = 2 ** 24;

/**
 * Reads an archive in one pass, without keeping it in memory. Members come in any order, so the image of a layer is known
 * only at the end.
 * @param onLayer called with each layer as it is stored; may read or skip it
 * @throws BuilderError for an archive that is damaged, malformed or hostile
 */
export async function readArchive<T>(
  { name, open }: ArchiveSource,
  onLayer: (layer: Member) => Promise<T>,
): Promise<Archive<T>> {
  const found: ArchiveDocuments = { documents: new Map(), links: new Map() };
  const layers = new Map<string, T>();
  const seen = new Set<string>();
  try {
    for await (const member of members(requireEndMark(await decompress(await open()), name), name)) {
      if (member.type === 'directory') continue;
      if (seen.has(member.name)) throw malformedArchive(name, `holds "${member.name}" twice`);
      seen.add(member.name);
      if (member.type === 'symlink') found.links.set(member.name, linkOf(name, member));
      else if (member.type !== 'file')
        throw malformedArchive(name, `holds "${member.name}", which is no file`);
      else if (await isDocument(member)) found.documents.set(member.name, await documentOf(name, member));
      else if (isLayer(member)) layers.set(member.name, await onLayer(member));
    }
  } catch (error) {
    throw explainReadError(name, error as Error);
  }
  const { documents } = found;
  return { images: imagesOf(name, found), documents, layers, delta: documents.get('delta.json') };
}

/** Checks that an archive has all layers of its images; not for deltas. */
export function requireLayers({ images, layers }: Archive<unknown>, name: string): void {
  for (const { member } of images.flatMap(({ layers }) => layers)) {
    if (!layers.has(member)) throw malformedArchive(name, `lacks a layer of its image, "${member}"`);
  }
}

function linkOf(archive: string, { name, linkname = '' }: Member): string {
  const depth = name.split('/').length - 1;
  const up = linkname.split('/').filter((part) => part === '..').length;
  if (linkname.startsWith('/') || up > depth)
    throw malformedArchive(archive, `has a link out of it, "${name}" to "${linkname}"`);
  return linkname;
}

const BLOB = /^blobs\/sha256\//;
const OPENING_BRACE = 0x7b;

/** Tells documents from layers by the first byte, since names of blobs say nothing. */
async function isDocument({ name, content }: Member): Promise<boolean> {
  if (BLOB.test(name)) return (await firstBytes(content))[0] === OPENING_BRACE;
  return /(?:^|\/)json$|\.json$/.test(name);
}

function isLayer({ name, size }: Member): boolean {
  return size > 0 && (BLOB.test(name) || /\.tar(?:\.gz)?$/.test(name));
}

async function documentOf(archive: string, { name, size, content }: Member): Promise<Buffer> {
  if (size > MAX_DOCUMENT_BYTES)
    throw malformedArchive(archive, `has a document of ${size} bytes, "${name}"`);
  return buffer(content);
}
