import { type Labels, type Metrics, selectBy } from './select-values.js';
import type { Latency } from './state.js';

/** The gateway's metrics, to be added up. */
export interface Figures {
  /** Sum of a metric over all values that have these labels; 0 without any. @param name without the prefix */
  sum(name: string, labels?: Labels): number;
  /** The values of a label and the sum of each, over all values that have these labels. */
  sumBy(name: string, label: string, labels?: Labels): ReadonlyMap<string, number>;
  /** Calls in the buckets of a histogram, cumulated. */
  buckets(name: string, labels?: Labels): Buckets;
}

/** Upper bound in seconds, and how many calls took no longer, in the order of the bounds. */
export type Buckets = readonly (readonly [bound: number, calls: number])[];

const PREFIX = 'slipway_gateway_';

export function readFigures(metrics: Metrics): Figures {
  const byName = new Map(metrics.map(({ name, values }) => [name, values]));
  const valuesOf = selectBy((name) => byName.get(PREFIX + name) ?? []);
  return {
    sum: (name, labels = {}) => valuesOf(name, labels).reduce((sum, { value }) => sum + value, 0),
    sumBy(name, label, labels = {}) {
      const sums = new Map<string, number>();
      for (const { labels: own, value } of valuesOf(name, labels)) {
        const key = String(own[label]);
        sums.set(key, (sums.get(key) ?? 0) + value);
      }
      return sums;
    },
    buckets(name, labels = {}) {
      const sums = new Map<number, number>();
      for (const { labels: own, value } of valuesOf(name, labels)) {
        // Sum and count of a histogram have no bound.
        if (own['le'] === undefined) continue;
        const bound = own['le'] === '+Inf' ? Infinity : Number(own['le']);
        sums.set(bound, (sums.get(bound) ?? 0) + value);
      }
      return [...sums].sort(([a], [b]) => a - b);
    },
  };
}

/** The calls since an earlier reading. */
export function bucketsSince(now: Buckets, before: Buckets): Buckets {
  const earlier = new Map(before);
  return now.map(([bound, calls]) => [bound, calls - (earlier.get(bound) ?? 0)]);
}

/** As Prometheus' `histogram_quantile`: linear within a bucket; the last finite bound beyond all. */
export function quantile(share: number, buckets: Buckets): number | null {
  const total = buckets.at(-1)?.[1] ?? 0;
  if (total <= 0) return null;
  const rank = share * total;
  const at = buckets.findIndex(([, calls]) => calls >= rank);
  const [bound, calls] = buckets[at]!;
  const [lower, below] = buckets[at - 1] ?? [0, 0];
  if (bound === Infinity) return lower;
  return lower + (bound - lower) * (calls > below ? (rank - below) / (calls - below) : 1);
}

export function latencyOf(buckets: Buckets): Latency {
  return { p50: quantile(0.5, buckets), p95: quantile(0.95, buckets) };
}
