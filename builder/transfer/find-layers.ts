import type { Delta } from '../archive/delta.js';
import type { Docker, ImageDetails } from '../docker/docker.js';
import { BuilderError } from '../exit.js';

/**
 * Few images of the engine that together have the layers; the named base is preferred. The position of a layer in an
 * image does not matter.
 * @returns ids
 * @throws BuilderError that says which image to load first
 */
export async function findLayers(docker: Docker, { needs, base, image }: Delta): Promise<string[]> {
  const missing = new Set(needs);
  const found: string[] = [];
  const take = ({ id, layers }: ImageDetails) => {
    const gives = layers.filter((layer) => missing.delete(layer));
    if (gives.length > 0) found.push(id);
  };
  for (const reference of [base.name, base.id]) {
    const details = missing.size > 0 ? await docker.inspectImage(reference) : undefined;
    if (details) take(details);
  }
  if (missing.size > 0) for (const details of await byUse(docker, missing)) take(details);
  if (missing.size === 0) return found;
  const what = `${missing.size} of the ${needs.length} layers that it was exported without`;
  throw new BuilderError(
    'failure',
    `this engine lacks ${what}: load the base ${base.name} (${base.id.slice(0, 19)}) first, or export ` +
      `${image.names[0] ?? image.id} without --base`,
  );
}

async function byUse(docker: Docker, missing: ReadonlySet<string>): Promise<ImageDetails[]> {
  const images = await docker.listImages();
  const details = await Promise.all(images.map(({ id }) => docker.inspectImage(id)));
  const use = ({ layers }: ImageDetails) => layers.filter((layer) => missing.has(layer)).length;
  return details.filter((image) => image !== undefined).sort((a, b) => use(b) - use(a));
}
