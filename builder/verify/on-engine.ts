import { randomUUID } from 'node:crypto';
import type { ArchiveImage } from '../archive/manifest.js';
import type { ArchiveSource } from '../archive/read.js';
import type { Docker } from '../docker/docker.js';
import { recompose } from '../transfer/load.js';

export interface TarballImage {
  source: ArchiveSource;
  image: ArchiveImage;
  /** Leave the image on the engine, under those names of the tarball that are free. */
  keep: boolean;
}

/** Loads the image of a tarball under a temporary name while `use` runs; existing names are not changed. */
export async function withLoaded<T>(
  docker: Docker,
  { source, image, keep }: TarballImage,
  use: (reference: string) => Promise<T>,
): Promise<T> {
  const there = await docker.inspectImage(image.id);
  const name = `slipway-verify:${randomUUID()}`;
  if (there) await docker.tagImage(image.id, name);
  else {
    const archive = { source, images: [image], delta: undefined };
    await docker.loadImages(recompose(docker, archive, { names: [name], bases: [] }), () => undefined);
  }
  try {
    const result = await use(name);
    if (keep) await keepNames(docker, name, image.names);
    return result;
  } finally {
    await docker.removeImage(name);
  }
}

async function keepNames(docker: Docker, reference: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    if (!(await docker.inspectImage(name))) await docker.tagImage(reference, name);
  }
}
