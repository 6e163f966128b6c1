import type { ModelEntry } from '../catalog/entry.js';
import type { Replica } from './replica.js';

/** Tells which models may have to be started next. */
export interface Expectation {
  /** Notes a call to the model. */
  called(modelId: string): void;
  /** Models that have no server and fit into memory; what was called last comes first. */
  models(): ModelEntry[];
}

export interface ExpectationOptions {
  catalog: () => readonly ModelEntry[];
  replicas: ReadonlySet<Replica>;
  /** GB for all running models together. */
  memoryGb: number;
}

export function createExpectation({ catalog, replicas, memoryGb }: ExpectationOptions): Expectation {
  /** Number of the last call to each model. */
  const calls = new Map<string, number>();
  let clock = 0;
  const lastCall = ({ modelId }: ModelEntry) => calls.get(modelId) ?? 0;
  return {
    called: (modelId) => void calls.set(modelId, ++clock),
    models() {
      const running = new Set([...replicas].map(({ entry }) => entry.modelId));
      const mayStart = ({ modelId, ramRequired }: ModelEntry) =>
        !running.has(modelId) && ramRequired <= memoryGb;
      return catalog()
        .filter(mayStart)
        .toSorted((a, b) => lastCall(b) - lastCall(a));
    },
  };
}
