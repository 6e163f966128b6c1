import { figuresOf } from '../../builder/images/labels.js';
import { withHeadroom } from '../../builder/plan/headroom.js';
import type { Catalog, ModelEntry } from './entry.js';

/** Smallest model image that has been measured: two processes and a tiny model. */
export const MIN_RAM_GB = 0.3;

/** GB that a server is given whose memory came to so many bytes with one request at a time. */
export function requiredGigabytes(bytes: number): number {
  return Math.ceil((withHeadroom(bytes) / 1e9) * 1000) / 1000;
}

/** What labels, of an image or of a Service that was made from one, say of a model's size. */
export function figuresFromLabels(
  labels: Readonly<Record<string, string>>,
): Pick<ModelEntry, 'params' | 'ramRequired' | 'figures'> {
  const { parameters, memoryBytes, basis } = figuresOf(labels) ?? {};
  const params = parameters === undefined ? null : parameters / 1e9;
  if (memoryBytes === undefined) return { params, ramRequired: MIN_RAM_GB, figures: 'assumed' };
  return { params, ramRequired: requiredGigabytes(memoryBytes), figures: basis ?? 'predicted' };
}

/** By id, in the order of the ids. */
export function sortedById(models: readonly ModelEntry[]): Map<string, ModelEntry> {
  const sorted = models.toSorted((a, b) => (a.modelId < b.modelId ? -1 : 1));
  return new Map(sorted.map((entry) => [entry.modelId, entry]));
}

/** A catalogue that never changes. */
export function fixedCatalog(models: readonly ModelEntry[]): Catalog {
  const entries = sortedById(models);
  return { list: () => [...entries.values()], find: (modelId) => entries.get(modelId), close: () => {} };
}

/** Takes what is measured when a model runs for the first time, where nobody knew before. */
export interface MeasuredCatalog extends Catalog {
  /** @param gigabytes what the running model takes */
  setMeasured(modelId: string, gigabytes: number): void;
}

export function measuredCatalog(catalog: Catalog): MeasuredCatalog {
  const known = new Map<string, number>();
  const completed = (entry: ModelEntry): ModelEntry => {
    const ramRequired = entry.figures === 'assumed' ? known.get(entry.modelId) : undefined;
    return ramRequired === undefined ? entry : { ...entry, ramRequired, figures: 'measured' };
  };
  return {
    list: () => catalog.list().map(completed),
    find(modelId) {
      const entry = catalog.find(modelId);
      return entry && completed(entry);
    },
    setMeasured: (modelId, gigabytes) => void known.set(modelId, gigabytes),
    close: () => catalog.close(),
  };
}

/** Both at once: what a file says of a model wins over what is found of it. */
export function mergedCatalog(file: Catalog, found: Catalog): Catalog {
  const find = (modelId: string) => merged(file.find(modelId), found.find(modelId));
  return {
    find,
    list() {
      const all = [...file.list(), ...found.list()];
      return [...sortedById(all).keys()].map((modelId) => find(modelId)!);
    },
    close() {
      file.close();
      found.close();
    },
  };
}

function merged(said: ModelEntry | undefined, found: ModelEntry | undefined): ModelEntry | undefined {
  if (said === undefined || found === undefined) return said ?? found;
  const { ramRequired, figures } = said.figures === 'given' ? said : found;
  const addresses = said.addresses.length > 0 ? said.addresses : found.addresses;
  return {
    ...said,
    params: said.params ?? found.params,
    ramRequired,
    figures,
    addresses,
    image: found.image,
  };
}
