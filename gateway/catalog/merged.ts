import type { Catalog } from './entry.js';

/** Several catalogues as one; what two of them know is as the first says. */
export function mergedCatalog(catalogs: readonly Catalog[]): Catalog {
  const find: Catalog['find'] = (modelId) => {
    for (const catalog of catalogs) {
      const entry = catalog.find(modelId);
      if (entry) return entry;
    }
    return undefined;
  };
  return {
    find,
    list() {
      const ids = new Set(catalogs.flatMap((catalog) => catalog.list().map(({ modelId }) => modelId)));
      return [...ids].toSorted().map((modelId) => find(modelId)!);
    },
    close: () => catalogs.forEach((catalog) => catalog.close()),
  };
}
