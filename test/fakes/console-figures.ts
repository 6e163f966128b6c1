import type { ConsoleState, KeyList } from '../../gateway/console/state.js';
import type { MetricsPage } from './prometheus.js';

const usageBy = ({ sum }: MetricsPage, labels: Record<string, string>) => ({
  calls: sum('key_calls_total', labels),
  seconds: sum('key_seconds_total', labels),
  cost: sum('key_cost_dollars_total', labels),
  tokensIn: sum('key_tokens_total', { ...labels, direction: 'in' }),
  tokensOut: sum('key_tokens_total', { ...labels, direction: 'out' }),
});

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
      usage: usageBy(metrics, { model: id }),
    })),
    keys: keys.map(({ id }) => ({
      id,
      ...usageBy(metrics, { key: id }),
    })),
  };
}

/** The same figures as the console shows them. */
export function figuresShown({ totals, memory, models }: ConsoleState, { keys }: KeyList) {
  return {
    totals,
    memory: memory.models,
    models: models.map(({ id, requests, errors, coldStarts, servers, underWay, latency, usage }) => ({
      ...{ id, requests, errors, coldStarts, servers, underWay, latency, usage },
    })),
    keys: keys.map(({ id, calls, seconds, cost, tokensIn, tokensOut }) => ({
      ...{ id, calls, seconds, cost, tokensIn, tokensOut },
    })),
  };
}
