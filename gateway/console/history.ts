import type { GatewayMetrics } from '../records/metrics.js';
import { type Buckets, bucketsSince, type Figures, quantile, readFigures } from './figures.js';
import type { Sample } from './state.js';

/** How the figures were during the last half hour. */
export interface History {
  /** The oldest first. @param model of this model alone; nothing from before its first call or server */
  samples(model?: string): readonly Sample[];
  close(): void;
}

const EVERY_MS = 15_000;
const MOST = 120;

/** Samples of one model, or of all together. */
interface Series {
  samples: readonly Sample[];
  /** Latencies until the last sample. */
  before: Buckets;
}

const NOTHING: Series = { samples: [], before: [] };

/**
 * Takes a sample of the metrics at once and every few seconds.
 * @param models those of the catalogue now; what was kept of others is dropped
 */
export function createHistory(
  metrics: GatewayMetrics,
  models: () => readonly string[],
  everyMs = EVERY_MS,
): History {
  let all = NOTHING;
  let byModel = new Map<string, Series>();

  async function take(): Promise<void> {
    const figures = readFigures(await metrics.values());
    all = withSample(all, figures, {});
    byModel = new Map(
      models()
        .filter((model) => byModel.has(model) || isUsed(figures, model))
        .map((model) => [model, withSample(byModel.get(model) ?? NOTHING, figures, { model })]),
    );
  }

  void take();
  const timer = setInterval(() => void take(), everyMs).unref();
  return {
    samples: (model) => (model === undefined ? all : (byModel.get(model) ?? NOTHING)).samples,
    close: () => clearInterval(timer),
  };
}

/** Of a thousand models most may never be called. */
function isUsed(figures: Figures, model: string): boolean {
  return figures.sum('requests_total', { model }) + figures.sum('instances', { model }) > 0;
}

function withSample({ samples, before }: Series, figures: Figures, labels: { model?: string }): Series {
  const of = (name: string) => figures.sum(name, labels);
  const buckets = figures.buckets('call_seconds', labels);
  const sample = {
    at: Date.now(),
    requests: of('requests_total'),
    errors: of('errors_total'),
    coldStarts: of('cold_starts_total'),
    underWay: of('under_way'),
    memory: of('model_memory_bytes'),
    p95: quantile(0.95, bucketsSince(buckets, before)),
  };
  return { samples: [...samples, sample].slice(-MOST), before: buckets };
}
