import { isModelId } from '../../runtime/core/ids.js';
import { isTaskId } from '../../runtime/core/task-ids.js';
import type { Device } from '../../runtime/core/spec.js';
import type { ImageSummary } from '../../builder/docker/docker.js';
import { deviceOf, LABEL } from '../../builder/images/labels.js';
import type { Catalog, ModelEntry } from './entry.js';
import { figuresFromLabels, sortedById } from './entries.js';
import { polledCatalog } from './polled.js';

export interface ImageCatalogOptions {
  /** Model images of the engine, newest first. */
  listImages(): Promise<ImageSummary[]>;
  /** Platform of the engine, e.g. `linux/amd64`; images of others are left out. */
  platform: string;
  /** What images can compute on there. */
  devices: readonly Device[];
  /** First part of the image names to include; all when absent. */
  namespace?: string | undefined;
  everyMs?: number;
  log: (line: string) => void;
}

const EVERY_MS = 3000;

/**
 * The models that have an image on the engine.
 * @throws BuilderError when the engine does not answer the first request
 */
export async function imageCatalog(options: ImageCatalogOptions): Promise<Catalog> {
  const { listImages, log, everyMs = EVERY_MS } = options;
  return polledCatalog({
    ...{ everyMs, log, source: 'the Docker Engine' },
    load: async () => entriesOf(await listImages(), options),
  });
}

type ImageFilter = Pick<ImageCatalogOptions, 'platform' | 'devices' | 'namespace'>;

function entriesOf(images: readonly ImageSummary[], filter: ImageFilter): Map<string, ModelEntry> {
  const best = new Map<string, ImageSummary>();
  for (const image of images) {
    const id = image.labels[LABEL.model]!;
    const known = best.get(id);
    if (canRun(image, filter) && (known === undefined || rank(image) > rank(known))) best.set(id, image);
  }
  return sortedById([...best.values()].map(entryOf));
}

/** An image without a name was replaced by a newer build; one that is being sealed is not verified yet. */
function isNamed({ references }: ImageSummary, namespace: string | undefined): boolean {
  return references.some(
    (reference) =>
      !reference.includes(':sealing-') && (namespace === undefined || reference.startsWith(`${namespace}/`)),
  );
}

function canRun(image: ImageSummary, { platform, devices, namespace }: ImageFilter): boolean {
  const { labels } = image;
  return (
    isNamed(image, namespace) &&
    isModelId(labels[LABEL.model] ?? '') &&
    isTaskId(labels[LABEL.task] ?? '') &&
    labels[LABEL.platform] === platform &&
    devices.includes(deviceOf(labels) ?? 'cpu')
  );
}

/** Prefers GPU images, then sealed, then baked ones. Of equals the first, which is the newest, stays. */
function rank({ labels }: ImageSummary): number {
  const hasValue = (label: string, value: string) => Number(labels[label] === value);
  const gpu = Number((deviceOf(labels) ?? 'cpu') !== 'cpu');
  return 4 * gpu + 2 * hasValue(LABEL.sealed, 'true') + hasValue(LABEL.baked, 'true');
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
      device: deviceOf(labels) ?? 'cpu',
    },
  };
}
