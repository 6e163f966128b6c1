import { Readable } from 'node:stream';
import type { ArchiveImage } from '../archive/manifest.js';
import type { ArchiveSource } from '../archive/read.js';
import { teeStream } from '../archive/streams.js';
import { checkArchive } from './load.js';

/**
 * What the engine saves, unchanged; the stream ends well only if every layer in it is what it should be.
 * @param onChecked gets the images of the archive before the stream ends
 */
export async function exportFull(
  source: ArchiveSource,
  onChecked: (images: readonly ArchiveImage[]) => void,
): Promise<Readable> {
  const [read, written] = teeStream(await source.open());
  const checked = checkArchive({ ...source, open: async () => read });
  const check = checked.then(({ images }) => onChecked(images));
  // Awaited below, but perhaps not before it has failed.
  check.catch(() => undefined);
  return Readable.from(afterCheck(written, check), { objectMode: false });
}

async function* afterCheck(bytes: Readable, check: Promise<unknown>): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of bytes) yield chunk as Buffer;
  } catch (error) {
    // Whatever ended the bytes, the check knows why.
    await check;
    throw error;
  }
  await check;
}
