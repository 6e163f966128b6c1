import { Readable } from 'node:stream';
import type { ArchiveImage } from '../archive/manifest.js';
import type { ArchiveSource } from '../archive/read.js';
import { teeStream } from '../archive/streams.js';
import { checkArchive } from './load.js';

/**
 * The engine's archive, unchanged; the stream fails at its end if a layer is wrong or missing.
 * @param onChecked called with the images of the archive before the stream ends
 */
export async function exportFull(
  source: ArchiveSource,
  onChecked: (images: readonly ArchiveImage[]) => void,
): Promise<Readable> {
  const [read, written] = teeStream(await source.open());
  const checked = checkArchive({ ...source, open: async () => read });
  const check = checked.then(({ images }) => onChecked(images));
  // Awaited below; avoids an unhandled rejection before that.
  check.catch(() => undefined);
  return Readable.from(afterCheck(written, check), { objectMode: false });
}

async function* afterCheck(bytes: Readable, check: Promise<unknown>): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of bytes) yield chunk as Buffer;
  } catch (error) {
    // If the check failed, throw its error.
    await check;
    throw error;
  }
  await check;
}
