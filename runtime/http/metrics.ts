import type { RequestHandler } from 'express';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ResponseSummary } from '../wire/observe-responses.js';

export interface ServerMetricsSources {
  running(): number;
  queued(): number;
  ready(): boolean;
  restarts(): number;
  /** Graph runs that the model has started. */
  graphRuns(): number;
  /** Bytes of bodies and media held by running requests. */
  pendingBytes(): number;
}

export interface Metrics {
  /** Counts one answer. */
  count(answer: ResponseSummary): void;
  /** GET /metrics in Prometheus' text format. */
  handler: RequestHandler;
}

/** Metrics of this server. Labels are routes, statuses and error codes; never text from callers. */
export function createServerMetrics(sources: ServerMetricsSources): Metrics {
  const registry = new Registry();
  const base = { registers: [registry] };
  const requests = new Counter({
    name: 'slipway_requests_total',
    help: 'Answers by route, status and error code.',
    labelNames: ['route', 'status', 'code'],
    ...base,
  });
  const notFinite = new Counter({
    name: 'slipway_not_finite_total',
    help: 'Requests that failed because the model computed NaN or Infinity.',
    ...base,
  });
  const duration = new Histogram({
    name: 'slipway_run_duration_seconds',
    help: 'Time from the arrival of a request to the model to the end of its answer.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900],
    ...base,
  });
  new Counter({
    name: 'slipway_graph_runs_total',
    help: 'Runs of its graphs that the model has begun: steps of generations, batches of rows.',
    ...base,
    collect() {
      this.reset();
      this.inc(sources.graphRuns());
    },
  });
  gauge('slipway_running', 'Requests that the model works on.', sources.running);
  gauge('slipway_queued', 'Requests that wait for a place.', sources.queued);
  gauge('slipway_ready', '1 when the model answers.', () => Number(sources.ready()));
  gauge('slipway_engine_restarts', 'Times that the model process was started again.', sources.restarts);
  gauge(
    'slipway_pending_bytes',
    'Bytes of bodies and media that requests under way hold.',
    sources.pendingBytes,
  );
  gauge('slipway_memory_bytes', 'Resident memory of the HTTP process.', () => process.memoryUsage.rss());

  function gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      ...base,
      collect() {
        this.set(read());
      },
    });
  }

  return {
    count({ route = 'other', ranModel, status, code = 'none', reason, milliseconds }) {
      requests.inc({ route, status: String(status), code });
      if (reason === 'not_finite') notFinite.inc();
      if (ranModel) duration.observe(milliseconds / 1000);
    },
    async handler(_request, response) {
      response.setHeader('Content-Type', registry.contentType);
      response.end(await registry.metrics());
    },
  };
}
