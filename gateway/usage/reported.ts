import { createSums, NO_USAGE, type UsageRow } from './row.js';

/** One request that a container has answered, as it tells. */
export interface ReportedRun {
  model: string;
  task: string;
  status: number;
  milliseconds: number;
}

/** Names of models that one key may bring up in a day: they come from outside, and each of them is a row. */
const MOST_MODELS = 200;

/** Adds up what containers tell. Their time costs nothing here: they run on somebody's own machine. */
export function createReports(today: () => string) {
  let day = '';
  const models = new Map<string, Set<string>>();

  function modelOf(keyId: string, model: string): string {
    const known = models.get(keyId) ?? new Set();
    if (!known.has(model) && known.size >= MOST_MODELS) return 'other';
    models.set(keyId, known.add(model));
    return model;
  }

  return (keyId: string, runs: readonly ReportedRun[]): UsageRow[] => {
    const now = today();
    if (now !== day) models.clear();
    day = now;
    const sums = createSums();
    for (const { model, status, milliseconds } of runs)
      sums.add({
        ...NO_USAGE,
        ...{ day, key: keyId, model: modelOf(keyId, model), source: 'container', calls: 1 },
        ...{ errors: Number(status >= 400), seconds: milliseconds / 1000 },
      });
    return sums.rows();
  };
}
