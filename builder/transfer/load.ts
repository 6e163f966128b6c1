import type { Readable } from 'node:stream';
import { type Delta, deltaOf } from '../archive/delta.js';
import { damagedArchive } from '../archive/errors.js';
import type { ArchiveImage } from '../archive/manifest.js';
import { type Archive, type ArchiveSource, requireLayers, readArchive } from '../archive/read.js';
import { composeArchive, diffIdOf } from '../archive/write.js';
import type { Docker } from '../docker/docker.js';
import { BuilderError } from '../exit.js';
import { configFor, manifestFor } from './export-delta.js';
import { onlyImage, savedImage } from './sources.js';

/** An archive whose layers have all been verified. */
export interface CheckedArchive {
  source: ArchiveSource;
  images: ArchiveImage[];
  /** Set if the file is a delta. */
  delta: Delta | undefined;
}

/** Reads and hashes a whole archive. @throws BuilderError for a wrong layer, or one missing and not listed as needed */
export async function checkArchive(source: ArchiveSource): Promise<CheckedArchive> {
  const archive = await readArchive(source, ({ content }) => diffIdOf(content));
  const delta = deltaOf(archive, source.name);
  if (!delta) requireLayers(archive, source.name);
  else demandCarried(archive, delta, source.name);
  for (const { diffId, member } of archive.images.flatMap(({ layers }) => layers)) {
    const found = archive.layers.get(member);
    if (found !== undefined && found !== diffId)
      throw damagedArchive(source.name, `has a layer that is not what it should be, ${member}`);
  }
  return { source, images: archive.images, delta };
}

function demandCarried({ layers }: Archive<string>, delta: Delta, name: string): void {
  const lost = delta.layers.find(({ diffId, member }) => layers.get(member) !== diffId);
  if (lost) throw damagedArchive(name, `lacks its layer ${lost.diffId}, or has another in its place`);
}

export interface Recomposition {
  /** Names that the loaded image gets. */
  names: string[];
  /** Images of the engine that provide the missing layers. */
  bases: readonly string[];
}

/**
 * Composes a complete archive from layers of the file and of local images. Every layer is hashed on the way; if one is
 * wrong or missing, the stream fails before the engine creates the image.
 */
export function recompose(
  docker: Docker,
  { source, images }: CheckedArchive,
  { names, bases }: Recomposition,
): Readable {
  const image = { ...images[0]!, names };
  const wanted = new Set(image.layers.map(({ diffId }) => diffId));
  const sources = [source, ...bases.map((base) => savedImage(docker, base))];
  return composeArchive(async (archive) => {
    const members = new Map<string, string>();
    for (const [index, from] of sources.entries()) {
      if (wanted.size === members.size) break;
      const folder = index === 0 ? 'new' : `base-${index}`;
      let count = 0;
      await readArchive(from, async (layer) => {
        const name = `${folder}/${count++}/layer.tar`;
        const diffId = await archive.layer(name, layer);
        if (wanted.has(diffId)) members.set(diffId, name);
      });
    }
    const lost = [...wanted].find((diffId) => !members.has(diffId));
    if (lost !== undefined)
      throw damagedArchive(source.name, `or its base has changed: nobody has the layer ${lost}`);
    await archive.document(configFor(image), image.config);
    await archive.document(...manifestFor(image, (diffId) => members.get(diffId)!));
  });
}

/**
 * Checks that the engine has the image with exactly this configuration.
 * @returns its id on the engine, which differs on engines with the containerd store
 */
export async function confirmLoaded(docker: Docker, { id, names }: ArchiveImage): Promise<string> {
  const reference = names[0] ?? id;
  const found = await docker.inspectImage(reference);
  if (found?.id === id) return id;
  if (found && (await onlyImage(savedImage(docker, reference))).id === id) return found.id;
  const what = found ? `another image (${found.id})` : 'nothing';
  throw new BuilderError(
    'failure',
    `the engine has ${what} as ${reference} after loading ${id}; load it again`,
  );
}
