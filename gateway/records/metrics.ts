import {
  Counter,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';
import { DURATION_BUCKETS } from '../../runtime/core/duration-buckets.js';
import type { RunningModel } from '../upstream/upstream.js';
import type { UsageRow } from '../usage/row.js';
import type { FinishedCall } from './finished-call.js';

export interface GatewayMetricsSources {
  /** Model servers of this gateway. */
  running(): RunningModel[];
  /** Callers waiting for a server. */
  waiting(): number;
  /** Calls counted as running by the limits of keys. */
  activeCalls(): number;
  /** Bytes of request bodies held by running calls. */
  pendingBytes(): number;
  /** Requests to containers whose response is not complete. */
  pendingRequests(): number;
}

export interface GatewayMetrics {
  count(call: FinishedCall): void;
  /** Counts what a key has used, here or in its own containers. */
  addUsage(row: UsageRow): void;
  contentType: string;
  /** All metrics as `text` gives them, before they are written as text. */
  values(): Promise<MetricObjectWithValues<MetricValue<string>>[]>;
  /** All metrics in Prometheus' text format. */
  text(): Promise<string>;
}

/** Labels are models of the catalogue, tasks, statuses and error codes; never text from callers. */
export function createGatewayMetrics(sources: GatewayMetricsSources): GatewayMetrics {
  const registry = new Registry();
  const callCounters = createCallCounters(registry);
  const addUsage = createKeyCounters(registry);
  addStateGauges(registry, sources);
  return {
    count({ model, status, code, milliseconds, cold, waitedMs }) {
      const { modelId, task } = model ?? { modelId: 'other', task: 'other' };
      callCounters.requests.inc({ model: modelId, task, status: String(status) });
      if (code !== undefined) callCounters.errors.inc({ model: modelId, code });
      if (cold) callCounters.coldStarts.inc({ model: modelId });
      if (waitedMs !== undefined) {
        callCounters.seconds.observe({ model: modelId }, milliseconds / 1000);
        callCounters.wait.observe({ model: modelId }, waitedMs / 1000);
      }
    },
    addUsage,
    contentType: registry.contentType,
    values: () => registry.getMetricsAsJSON(),
    text: () => registry.metrics(),
  };
}

function createCallCounters(registry: Registry) {
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name: `slipway_gateway_${name}`, help, labelNames, registers });
  const histogram = (name: string, help: string) =>
    new Histogram({
      ...{ name: `slipway_gateway_${name}`, help, registers },
      labelNames: ['model'],
      buckets: DURATION_BUCKETS,
    });
  return {
    requests: counter('requests_total', 'Answers by model, task and status.', ['model', 'task', 'status']),
    errors: counter('errors_total', 'Failed calls by model and error code.', ['model', 'code']),
    coldStarts: counter('cold_starts_total', 'Calls for which a model was started.', ['model']),
    seconds: histogram('call_seconds', 'Time from the arrival of a call that reached a model to its end.'),
    wait: histogram('wait_seconds', 'Time that a call waited for a server of its model.'),
  };
}

/** Most series for keys and models; all others are counted as `other`. */
const MAX_SERIES = 5000;

function createKeyCounters(registry: Registry): (row: UsageRow) => void {
  const labelNames = ['key', 'model', 'source'];
  const counter = (name: string, help: string, more: string[] = []) =>
    new Counter({
      ...{ name: `slipway_gateway_key_${name}`, help, registers: [registry] },
      labelNames: [...labelNames, ...more],
    });
  const calls = counter('calls_total', 'Calls of a key to a model, or to its own containers.');
  const seconds = counter('seconds_total', 'Seconds that models worked for a key.');
  const cost = counter(
    'cost_dollars_total',
    'What the calls of a key have cost, by the prices of the gateway.',
  );
  const tokens = counter('tokens_total', 'Tokens of a key, where models count them.', ['direction']);
  const known = new Set<string>();
  return ({ key, model, source, ...row }) => {
    const series = `${key} ${model} ${source}`;
    if (known.size < MAX_SERIES) known.add(series);
    const labels = known.has(series) ? { key, model, source } : { key: 'other', model: 'other', source };
    calls.inc(labels, row.calls);
    seconds.inc(labels, row.seconds);
    cost.inc(labels, row.cost);
    if (row.tokensIn > 0) tokens.inc({ ...labels, direction: 'in' }, row.tokensIn);
    if (row.tokensOut > 0) tokens.inc({ ...labels, direction: 'out' }, row.tokensOut);
  };
}

function addStateGauges(registry: Registry, sources: GatewayMetricsSources): void {
  const { running } = sources;
  const gauge = (name: string, help: string, labelNames: string[], set: (gauge: Gauge) => void) =>
    new Gauge({
      ...{ name: `slipway_gateway_${name}`, help, labelNames, registers: [registry] },
      collect() {
        this.reset();
        set(this);
      },
    });
  const plain = (name: string, help: string, read: () => number) =>
    gauge(name, help, [], (gauge) => gauge.set(read()));
  plain('waiting', 'Callers waiting for a server of a model.', sources.waiting);
  plain('calls', 'Calls counted as running by the limits of keys.', sources.activeCalls);
  plain('pending_bytes', 'Bytes of request bodies held by running calls.', sources.pendingBytes);
  plain('questions', 'Requests to model servers whose response is not complete.', sources.pendingRequests);
  gauge('instances', 'Servers of models by state.', ['model', 'state'], (gauge) => {
    for (const { modelId, state } of running()) gauge.inc({ model: modelId, state });
  });
  gauge(
    'model_memory_bytes',
    'Memory that the servers of a model count for in the budget.',
    ['model'],
    (gauge) => {
      for (const { modelId, ramRequired } of running()) gauge.inc({ model: modelId }, ramRequired * 1e9);
    },
  );
  gauge('under_way', 'Running calls of the servers of a model.', ['model'], (gauge) => {
    for (const { modelId, leases } of running()) gauge.inc({ model: modelId }, leases);
  });
  plain('memory_bytes', 'Resident memory of the gateway itself.', () => process.memoryUsage.rss());
}
