import { open, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { type ArchiveSource, readArchive } from '../archive/read.js';
import type { ArchiveImage } from '../archive/manifest.js';
import type { Docker } from '../docker/docker.js';
import { BuilderError } from '../exit.js';

/** An image of the engine as an archive. */
export function savedImage(docker: Docker, reference: string): ArchiveSource {
  return { name: reference, open: () => docker.saveImages([reference]) };
}

/** A file as an archive. */
export function fileArchive(file: string): ArchiveSource {
  return { name: path.basename(file), open: () => openFile(file) };
}

/** @throws BuilderError when the file does not exist or can't be read */
export async function openFile(file: string): Promise<Readable> {
  try {
    // Opened first, so that errors are thrown here and not by the stream.
    const handle = await open(file);
    return handle.createReadStream({ highWaterMark: 2 ** 20 });
  } catch (error) {
    throw new BuilderError('failure', `${file} can't be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** True for the path of a file; a name that is both image and file counts as the file. */
export async function isFile(text: string): Promise<boolean> {
  const found = await stat(text).catch(() => undefined);
  if (found === undefined && /\.(?:tar|tgz|gz|zst)$/.test(text))
    throw new BuilderError('failure', `there is no file ${text}`);
  return found?.isFile() ?? false;
}

/** The image of an archive, without reading its layers. @throws BuilderError when it holds several */
export async function onlyImage(source: ArchiveSource): Promise<ArchiveImage> {
  const { images } = await readArchive(source, async () => undefined);
  if (images.length === 1) return images[0]!;
  const names = images.flatMap((image) => image.names).join(', ');
  throw new BuilderError(
    'failure',
    `${source.name} holds ${images.length} images (${names}); give one of one`,
  );
}
