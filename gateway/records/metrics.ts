import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { RunningModel } from '../upstream/upstream.js';
import type { UsageRow } from '../usage/row.js';
import type { FinishedCall } from './finished-call.js';

export interface GatewayMetricsSources {
  /** Servers of models that run now. */
  running(): RunningModel[];
  /** Callers who wait for a server. */
  waiting(): number;
  /** Calls of keys that count as under way. */
  activeCalls(): number;
  /** Bytes that calls under way hold. */
  pendingBytes(): number;
  /** Questions to containers that have not been answered to their end. */
  pendingRequests(): number;
}

export interface GatewayMetrics {
  count(call: FinishedCall): void;
  /** Counts what a key has used, here or in containers of its own. */
  addUsage(row: UsageRow): void;
  contentType: string;
  /** All of it in Prometheus' text format. */
  text(): Promise<string>;
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];

/** Labels are models of the catalogue, tasks, statuses and error codes: never anything that a caller wrote. */
export function createGatewayMetrics(sources: GatewayMetricsSources): GatewayMetrics {
  const registry = new Registry();
  const meters = callMeters(registry);
  const use = keyMeters(registry);
  stateGauges(registry, sources);
  return {
    count({ model, status, code, milliseconds, cold, waitedMs }) {
      const { modelId, task } = model ?? { modelId: 'other', task: 'other' };
      meters.requests.inc({ model: modelId, task, status: String(status) });
      if (code !== undefined) meters.errors.inc({ model: modelId, code });
      if (cold) meters.coldStarts.inc({ model: modelId });
      if (waitedMs !== undefined) {
        meters.seconds.observe({ model: modelId }, milliseconds / 1000);
        meters.wait.observe({ model: modelId }, waitedMs / 1000);
      }
    },
    addUsage: use,
    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
}

function callMeters(registry: Registry) {
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name: `slipway_gateway_${name}`, help, labelNames, registers });
  const histogram = (name: string, help: string) =>
    new Histogram({
      ...{ name: `slipway_gateway_${name}`, help, registers },
      labelNames: ['model'],
      buckets: SECONDS,
    });
  return {
    requests: counter('requests_total', 'Answers by model, task and status.', ['model', 'task', 'status']),
    errors: counter('errors_total', 'Failed calls by model and error code.', ['model', 'code']),
    coldStarts: counter('cold_starts_total', 'Calls that a model was started for.', ['model']),
    seconds: histogram('call_seconds', 'From the arrival of a call that reached a model to its end.'),
    wait: histogram('wait_seconds', 'That a call waited until a server of its model was there.'),
  };
}

/** Series for keys and models; what comes on top of so many goes to `other`. */
const MOST_SERIES = 5000;

function keyMeters(registry: Registry): (row: UsageRow) => void {
  const labelNames = ['key', 'model', 'source'];
  const counter = (name: string, help: string) =>
    new Counter({ name: `slipway_gateway_key_${name}`, help, labelNames, registers: [registry] });
  const calls = counter('calls_total', 'Calls of a key to a model, or to a container of its own.');
  const seconds = counter('seconds_total', 'That models were held or worked for a key.');
  const known = new Set<string>();
  return ({ key, model, source, ...row }) => {
    const place = `${key} ${model} ${source}`;
    if (known.size < MOST_SERIES) known.add(place);
    const labels = known.has(place) ? { key, model, source } : { key: 'other', model: 'other', source };
    calls.inc(labels, row.calls);
    seconds.inc(labels, row.seconds);
  };
}

function stateGauges(registry: Registry, sources: GatewayMetricsSources): void {
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
  plain('waiting', 'Callers who wait for a server of a model.', sources.waiting);
  plain('calls', 'Calls of keys that count as under way.', sources.activeCalls);
  plain('pending_bytes', 'Bytes of bodies that calls under way hold.', sources.pendingBytes);
  plain('questions', 'Questions to servers of models without the end of an answer.', sources.pendingRequests);
  gauge('instances', 'Servers of models by state.', ['model', 'state'], (gauge) => {
    for (const { modelId, state } of running()) gauge.inc({ model: modelId, state });
  });
  gauge('model_memory_bytes', 'Memory that the servers of a model are reckoned with.', ['model'], (gauge) => {
    for (const { modelId, ramRequired } of running()) gauge.inc({ model: modelId }, ramRequired * 1e9);
  });
  gauge('under_way', 'Calls that servers of a model answer now.', ['model'], (gauge) => {
    for (const { modelId, leases } of running()) gauge.inc({ model: modelId }, leases);
  });
  plain('memory_bytes', 'Resident memory of the gateway itself.', () => process.memoryUsage.rss());
}
