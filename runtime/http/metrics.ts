import type { RowCounts } from '../core/row-counts.js';
import type { RequestHandler } from 'express';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { DURATION_BUCKETS } from '../core/duration-buckets.js';
import type { LayerPlacement } from '../core/placement.js';
import type { TaskId } from '../core/task-ids.js';
import type { Usage } from '../core/usage.js';
import type { ResponseSummary } from '../wire/observe-responses.js';

export interface ServerMetricsSources {
  task: TaskId;
  running(): number;
  queued(): number;
  ready(): boolean;
  /** Of engines that place layers. */
  placement(): LayerPlacement | undefined;
  restarts(): number;
  /** Graph runs that the model has started. */
  graphRuns(): number;
  /** Bytes of bodies and media held by running requests. */
  pendingBytes(): number;
}

/** Parts of a start. `prepare`: downloads and checks; `total`: since the process began. */
export type StartPhase = 'prepare' | 'load' | 'first_request' | 'total';

export interface Metrics {
  /** Counts one answer. */
  count(answer: ResponseSummary): void;
  /** Counts what a run has read and written. */
  tokens(usage: Usage): void;
  /** Milliseconds from a request to the first piece of its text. */
  firstPiece(milliseconds: number): void;
  /** Milliseconds that a request waited for the model. */
  waited(milliseconds: number): void;
  /** Milliseconds that a part of the last start took. */
  started(phase: StartPhase, milliseconds: number): void;
  /** Counts runs by the rows that shared them. */
  rows(counts: RowCounts): void;
  /** All metrics in Prometheus' text format. */
  text(): Promise<string>;
  /** GET /metrics. */
  handler: RequestHandler;
}

function countLayers(registry: Registry, { placement }: ServerMetricsSources): void {
  new Gauge({
    name: 'slipway_layers',
    help: 'Layers of the model by where they are, of engines that place them.',
    labelNames: ['where'],
    registers: [registry],
    collect() {
      this.reset();
      const placed = placement();
      if (!placed) return;
      this.set({ where: 'gpu' }, placed.gpu_layers);
      this.set({ where: 'cpu' }, placed.layers - placed.gpu_layers);
    },
  });
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
  const duration = histogram(
    'slipway_run_duration_seconds',
    'Time from the arrival of a request to the model to the end of its answer.',
  );
  const tokens = new Counter({
    name: 'slipway_tokens_total',
    help: 'Tokens that were read (in), written (out), and among those thought with (reasoning).',
    labelNames: ['direction'],
    ...base,
  });
  const firstPiece = histogram(
    'slipway_first_piece_seconds',
    'Time from a request to the first piece of its streamed text.',
  );
  const queue = histogram(
    'slipway_queue_seconds',
    'Time that a request waited until the model began with it.',
  );
  const start = new Gauge({
    name: 'slipway_start_seconds',
    help: 'What parts of the last start of the model took.',
    labelNames: ['phase'],
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
  countLayers(registry, sources);
  gauge('slipway_engine_restarts', 'Times that the model process was started again.', sources.restarts);
  gauge(
    'slipway_pending_bytes',
    'Bytes of bodies and media that requests under way hold.',
    sources.pendingBytes,
  );
  gauge('slipway_memory_bytes', 'Resident memory of the HTTP process.', () => process.memoryUsage.rss());

  function histogram(name: string, help: string): Histogram {
    return new Histogram({ name, help, buckets: DURATION_BUCKETS, ...base });
  }

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
    tokens({ tokensIn, tokensOut, reasoningTokens }) {
      tokens.inc({ direction: 'in' }, tokensIn);
      if (tokensOut) tokens.inc({ direction: 'out' }, tokensOut);
      if (reasoningTokens) tokens.inc({ direction: 'reasoning' }, reasoningTokens);
    },
    firstPiece: (milliseconds) => firstPiece.observe(milliseconds / 1000),
    waited: (milliseconds) => queue.observe(milliseconds / 1000),
    started: (phase, milliseconds) => start.set({ phase }, milliseconds / 1000),
    rows: countRows(registry, sources.task),
    text: () => registry.metrics(),
    async handler(_request, response) {
      response.setHeader('Content-Type', registry.contentType);
      response.end(await registry.metrics());
    },
  };
}

/** Upper bounds of rows in a run. */
const ROW_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128];

function countRows(registry: Registry, task: TaskId): Metrics['rows'] {
  const rows = new Histogram({
    name: 'slipway_batch_rows',
    help: 'Rows in runs of the graph that requests may share: texts, images, steps of generations.',
    labelNames: ['task'],
    buckets: ROW_BUCKETS,
    registers: [registry],
  });
  return (counts) => {
    for (const [size, runs] of counts) for (let run = 0; run < runs; run++) rows.observe({ task }, size);
  };
}
