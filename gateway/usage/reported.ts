import { createSums, NO_USAGE, type UsageRow } from './row.js';

/** One request that a container answered, as it reports it. */
export interface ReportedRun {
  model: string;
  task: string;
  status: number;
  milliseconds: number;
}

/** Most model names per key and day. They come from outside, and each makes a row. */
const MAX_MODELS = 200;

/** Sums up reports of containers. Their cost is 0, because they run on the user's own machine. */
export function createReports(today: () => string) {
  let day = '';
  const models = new Map<string, Set<string>>();

  function modelOf(keyId: string, model: string): string {
    const known = models.get(keyId) ?? new Set();
    if (!known.has(model) && known.size >= MAX_MODELS) return 'other';
    models.set(keyId, known.add(model));
    return model;
  }

  return (keyId: string, runs: readonly ReportedRun[]): UsageRow[] => {
    const currentDay = today();
    if (currentDay !== day) models.clear();
    day = currentDay;
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
