import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { decompress } from './compression.js';
import { malformedArchive } from './errors.js';
import { type Member, members } from './members.js';
import { hashStream } from './streams.js';

/** One entry of a layer. */
export interface LayerEntry {
  /** Absolute, e.g. `/server/main.mjs`. */
  path: string;
  type: 'file' | 'directory' | 'symlink' | 'link' | 'other';
  size: number;
  /** Hex; files only. */
  sha256?: string;
  /** Symbolic and hard links only. */
  target?: string;
  /** Only for files that were requested. */
  content?: Buffer;
}

export interface LayerIndex {
  /** `sha256:` and the hash of the layer's uncompressed tar. */
  diffId: string;
  entries: LayerEntry[];
}

/** Largest file whose content is kept. */
const MAX_KEPT_BYTES = 2 ** 26;

/**
 * Hashes a layer and every file in it, in one pass.
 * @param keep paths of files whose content to keep
 */
export async function indexLayer(layer: Member, keep: ReadonlySet<string> = new Set()): Promise<LayerIndex> {
  const { stream, digest } = hashStream(await decompress(layer.content));
  const entries: LayerEntry[] = [];
  for await (const member of members(stream, `layer ${layer.name}`)) {
    if (member.name !== '') entries.push(await entryOf(member, keep));
  }
  return { diffId: await digest, entries };
}

async function entryOf(member: Member, keep: ReadonlySet<string>): Promise<LayerEntry> {
  const { name, type, size, linkname } = member;
  const path = `/${name}`;
  if (type === 'file' || type === 'contiguous-file')
    return { path, type: 'file', size, ...(await contentOf(member, keep.has(path))) };
  if (type === 'directory') return { path, type, size: 0 };
  if (type === 'symlink' || type === 'link') return { path, type, size: 0, target: linkname ?? '' };
  return { path, type: 'other', size: 0 };
}

async function contentOf({ name, size, content }: Member, keep: boolean) {
  const { stream, digest } = hashStream(content);
  if (keep && size > MAX_KEPT_BYTES) throw malformedArchive(`/${name}`, `has ${size} bytes`);
  const kept = keep ? await buffer(stream) : await drained(stream);
  return { sha256: (await digest).slice('sha256:'.length), ...(kept && { content: kept }) };
}

async function drained(stream: Readable): Promise<undefined> {
  for await (const _ of stream);
}
