import type { GatewayMetrics } from '../records/metrics.js';
import { type Buckets, bucketsSince, quantile, readFigures } from './figures.js';
import type { Sample } from './state.js';

/** How the figures were during the last half hour. */
export interface History {
  /** The oldest first. */
  samples(): Sample[];
  close(): void;
}

const EVERY_MS = 15_000;
const MOST = 120;

/** Takes a sample of the metrics at once and every few seconds. */
export function createHistory(metrics: GatewayMetrics, everyMs = EVERY_MS): History {
  let samples: Sample[] = [];
  let before: Buckets = [];

  async function take(): Promise<void> {
    const figures = readFigures(await metrics.values());
    const buckets = figures.buckets('call_seconds');
    const sample = {
      at: Date.now(),
      requests: figures.sum('requests_total'),
      errors: figures.sum('errors_total'),
      coldStarts: figures.sum('cold_starts_total'),
      underWay: figures.sum('under_way'),
      memory: figures.sum('model_memory_bytes'),
      p95: quantile(0.95, bucketsSince(buckets, before)),
    };
    before = buckets;
    samples = [...samples, sample].slice(-MOST);
  }

  void take();
  const timer = setInterval(() => void take(), everyMs).unref();
  return { samples: () => samples, close: () => clearInterval(timer) };
}
