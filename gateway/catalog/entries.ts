import { figuresOf } from '../../builder/images/labels.js';
import { withHeadroom } from '../../builder/plan/headroom.js';
import type { Catalog, ModelEntry } from './entry.js';

/** The smallest memory measured for any model server: two processes and a tiny model. */
export const MIN_RAM_GB = 0.3;

/** GB to reserve for a server that was measured at so many bytes with one request at a time. */
export function requiredGigabytes(bytes: number): number {
  return Math.ceil((withHeadroom(bytes) / 1e9) * 1000) / 1000;
}

/** Reads a model's size from the labels of its image, or of a Service made from it. */
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

/** Accepts the memory measured at a model's first start, for entries whose memory was assumed. */
export interface MeasuredCatalog extends Catalog {
  /** @param gigabytes what the running model takes */
  setMeasured(modelId: string, gigabytes: number): void;
}

export function measuredCatalog(catalog: Catalog): MeasuredCatalog {
  const measured = new Map<string, number>();
  const withMeasured = (entry: ModelEntry): ModelEntry => {
    const ramRequired = entry.figures === 'assumed' ? measured.get(entry.modelId) : undefined;
    return ramRequired === undefined ? entry : { ...entry, ramRequired, figures: 'measured' };
  };
  return {
    list: () => catalog.list().map(withMeasured),
    find(modelId) {
      const entry = catalog.find(modelId);
      return entry && withMeasured(entry);
    },
    ...(catalog.reload && { reload: () => catalog.reload!() }),
    setMeasured: (modelId, gigabytes) => void measured.set(modelId, gigabytes),
    close: () => catalog.close(),
  };
}

/** Merges two catalogues. What the file says of a model takes precedence over what was found. */
export function mergedCatalog(file: Catalog, found: Catalog): Catalog {
  const find = (modelId: string) => mergeEntries(file.find(modelId), found.find(modelId));
  const reloading = [file, found].filter(({ reload }) => reload);
  return {
    find,
    ...(reloading.length > 0 && {
      reload: async () => void (await Promise.all(reloading.map((catalog) => catalog.reload!()))),
    }),
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

function mergeEntries(given: ModelEntry | undefined, found: ModelEntry | undefined): ModelEntry | undefined {
  if (given === undefined || found === undefined) return given ?? found;
  const { ramRequired, figures } = given.figures === 'given' ? given : found;
  const addresses = given.addresses.length > 0 ? given.addresses : found.addresses;
  return {
    ...given,
    params: given.params ?? found.params,
    ramRequired,
    figures,
    addresses,
    image: found.image,
  };
}
