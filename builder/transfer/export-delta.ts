import type { Readable } from 'node:stream';
import { type ArchiveWriter, composeArchive } from '../archive/write.js';
import type { Delta } from '../archive/delta.js';
import { damagedArchive } from '../archive/errors.js';
import type { ArchiveImage } from '../archive/manifest.js';
import { type ArchiveSource, readArchive } from '../archive/read.js';
import type { Docker } from '../docker/docker.js';
import { BuilderError } from '../exit.js';
import { fileArchive, isFile, onlyImage } from './sources.js';

/** What the target machine is expected to have. */
export interface DeltaBase {
  id: string;
  name: string;
  diffIds: string[];
}

/** @param base an image of the engine, or a file of one. @throws BuilderError when there is no such image */
export async function findBase(docker: Docker, base: string): Promise<DeltaBase> {
  if (await isFile(base)) {
    const { id, names, layers } = await onlyImage(fileArchive(base));
    return { id, name: names[0] ?? id, diffIds: layers.map(({ diffId }) => diffId) };
  }
  const image = await docker.inspectImage(base);
  if (image) return { id: image.id, name: base, diffIds: image.layers };
  throw new BuilderError('failure', `--base ${base} is neither an image of this engine nor a file`);
}

/** An archive with the layers that `base` lacks, and its delta.json. */
export interface DeltaExport {
  delta: Delta;
  open(): Readable;
}

/**
 * Reads the image twice: engines write the list of layers at the end of the archive, and only then is it known which
 * layers to leave out.
 */
export async function exportDelta(source: ArchiveSource, base: DeltaBase): Promise<DeltaExport> {
  const { images, layers: sizes } = await readArchive(source, async ({ size }) => size);
  const [image] = images as [ArchiveImage];
  const has = new Set(base.diffIds);
  const carried = new Map(
    image.layers.filter(({ diffId }) => !has.has(diffId)).map((layer) => [layer.diffId, layer]),
  );
  const delta: Delta = {
    version: 1,
    image: { id: image.id, names: image.names },
    base: { id: base.id, name: base.name },
    needs: [...new Set(image.layers.map(({ diffId }) => diffId))].filter((diffId) => has.has(diffId)),
    layers: [...carried.values()].map(({ diffId, member }) => ({
      diffId,
      member: memberFor(diffId),
      size: sizes.get(member)!,
    })),
  };
  return { delta, open: () => composeArchive((archive) => writeDelta(archive, { source, image, delta })) };
}

interface Writing {
  source: ArchiveSource;
  image: ArchiveImage;
  delta: Delta;
}

async function writeDelta(archive: ArchiveWriter, { source, image, delta }: Writing): Promise<void> {
  await archive.document('delta.json', `${JSON.stringify(delta, null, 2)}\n`);
  await archive.document(...manifestFor(image, memberFor));
  await archive.document(configFor(image), image.config);
  const wanted = new Map(delta.layers.map(({ diffId }) => [diffId, memberFor(diffId)]));
  const diffIds = new Map(image.layers.map(({ diffId, member }) => [member, diffId]));
  await readArchive(source, async (layer) => {
    const diffId = diffIds.get(layer.name);
    const name = diffId === undefined ? undefined : wanted.get(diffId);
    if (name === undefined) return;
    wanted.delete(diffId!);
    if ((await archive.layer(name, layer)) !== diffId)
      throw damagedArchive(source.name, `has a layer whose content is not that of ${diffId}`);
  });
  if (wanted.size > 0)
    throw new BuilderError('failure', `${source.name} has changed during the export; try again`);
}

export const memberFor = (diffId: string): string => `${diffId.slice('sha256:'.length)}/layer.tar`;

export const configFor = ({ id }: Pick<ArchiveImage, 'id'>): string => `${id.slice('sha256:'.length)}.json`;

/** Name and text of the document in which engines look up the parts of an image. */
export function manifestFor(
  image: Pick<ArchiveImage, 'id' | 'names' | 'layers'>,
  memberOf: (diffId: string) => string,
): [string, string] {
  const entry = {
    Config: configFor(image),
    RepoTags: image.names.length > 0 ? image.names : null,
    Layers: image.layers.map(({ diffId }) => memberOf(diffId)),
  };
  return ['manifest.json', JSON.stringify([entry])];
}
