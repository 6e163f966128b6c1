import { isModelId } from '../../runtime/core/ids.js';
import { isTaskId } from '../../runtime/core/task-ids.js';
import type { ImageSummary } from '../../builder/docker/docker.js';
import { LABEL } from '../../builder/images/labels.js';
import type { Catalog, ModelEntry } from './entry.js';
import { figuresFromLabels, sortedById } from './entries.js';
import { polledCatalog } from './polled.js';

export interface ImageCatalogOptions {
  /** Model images of the engine, newest first. */
  listImages(): Promise<ImageSummary[]>;
  /** Of the engine, e.g. `linux/amd64`: it runs no other. */
  platform: string;
  /** The engine has GPUs to give. */
  gpus: boolean;
  /** First part of the names of the images that count; all when absent. */
  namespace?: string | undefined;
  everyMs?: number;
  log: (line: string) => void;
}

const EVERY_MS = 3000;

/**
 * The models whose images lie on an engine.
 * @throws BuilderError when it does not answer the first time
 */
export async function imageCatalog(options: ImageCatalogOptions): Promise<Catalog> {
  const { listImages, log, everyMs = EVERY_MS } = options;
  return polledCatalog({
    ...{ everyMs, log, source: 'the Docker Engine' },
    load: async () => entriesOf(await listImages(), options),
  });
}

type Wanted = Pick<ImageCatalogOptions, 'platform' | 'gpus' | 'namespace'>;

function entriesOf(images: readonly ImageSummary[], wanted: Wanted): Map<string, ModelEntry> {
  const best = new Map<string, ImageSummary>();
  for (const image of images) {
    const id = image.labels[LABEL.model]!;
    const known = best.get(id);
    if (runs(image, wanted) && (known === undefined || rank(image) > rank(known))) best.set(id, image);
  }
  return sortedById([...best.values()].map(entryOf));
}

/** An image without a name is what a newer build has left; one that is being sealed is not proven yet. */
function isNamed({ references }: ImageSummary, namespace: string | undefined): boolean {
  return references.some(
    (reference) =>
      !reference.includes(':sealing-') && (namespace === undefined || reference.startsWith(`${namespace}/`)),
  );
}

function runs(image: ImageSummary, { platform, gpus, namespace }: Wanted): boolean {
  const { labels } = image;
  return (
    isNamed(image, namespace) &&
    isModelId(labels[LABEL.model] ?? '') &&
    isTaskId(labels[LABEL.task] ?? '') &&
    labels[LABEL.platform] === platform &&
    (labels[LABEL.device] !== 'cuda' || gpus)
  );
}

/** The GPU is used where there is one; then what needs least from outside wins, and of equals the newest. */
function rank({ labels }: ImageSummary): number {
  const is = (label: string, value: string) => Number(labels[label] === value);
  return 4 * is(LABEL.device, 'cuda') + 2 * is(LABEL.sealed, 'true') + is(LABEL.baked, 'true');
}

function entryOf({ id, labels, references }: ImageSummary): ModelEntry {
  return {
    modelId: labels[LABEL.model]!,
    task: labels[LABEL.task] as ModelEntry['task'],
    ...figuresFromLabels(labels),
    addresses: [],
    image: {
      id,
      reference: references[0]!,
      baked: labels[LABEL.baked] === 'true',
      gpu: labels[LABEL.device] === 'cuda',
    },
  };
}
