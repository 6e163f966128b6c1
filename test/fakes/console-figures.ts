import type { ConsoleState, KeyList } from '../../gateway/console/state.js';
import type { MetricsPage } from './prometheus.js';

/** The figures that a console has to show by a page of metrics, for the same models and keys. */
export function figuresBy(metrics: MetricsPage, { models }: ConsoleState, { keys }: KeyList) {
  const { sum } = metrics;
  const latency = (labels?: Record<string, string>) => ({
    p50: metrics.quantile(0.5, 'call_seconds', labels),
    p95: metrics.quantile(0.95, 'call_seconds', labels),
  });
  return {
    totals: {
      requests: sum('requests_total'),
      errors: sum('errors_total'),
      coldStarts: sum('cold_starts_total'),
      underWay: sum('under_way'),
      waiting: sum('waiting'),
      servers: sum('instances'),
      latency: latency(),
    },
    memory: sum('model_memory_bytes'),
    models: models.map(({ id }) => ({
      id,
      requests: sum('requests_total', { model: id }),
      errors: sum('errors_total', { model: id }),
      coldStarts: sum('cold_starts_total', { model: id }),
      servers: sum('instances', { model: id }),
      underWay: sum('under_way', { model: id }),
      latency: latency({ model: id }),
    })),
    keys: keys.map(({ id }) => ({
      id,
      calls: sum('key_calls_total', { key: id }),
      seconds: sum('key_seconds_total', { key: id }),
    })),
  };
}

/** The same figures as the console shows them. */
export function figuresShown({ totals, memory, models }: ConsoleState, { keys }: KeyList) {
  return {
    totals,
    memory: memory.models,
    models: models.map(({ id, requests, errors, coldStarts, servers, underWay, latency }) => ({
      ...{ id, requests, errors, coldStarts, servers, underWay, latency },
    })),
    keys: keys.map(({ id, calls, seconds }) => ({ id, calls, seconds })),
  };
}
