import type { Catalog, ModelEntry } from '../catalog/entry.js';
import { VERSION } from '../package.js';
import type { GatewayMetrics } from '../records/metrics.js';
import type { Upstream } from '../upstream/upstream.js';
import { type Figures, latencyOf, readFigures } from './figures.js';
import type { History } from './history.js';
import type { Incidents } from './incidents.js';
import type { ConsoleState, ModelCondition, ModelState, Totals } from './state.js';
import { usageOf } from './usage.js';

export interface StateSources {
  catalog: Catalog;
  upstream: Pick<Upstream, 'stop' | 'budgetGb'>;
  metrics: GatewayMetrics;
  incidents: Incidents;
  playground: ConsoleState['playground'];
}

/** The whole state of the gateway. All figures are those of /metrics. */
export async function readState(sources: StateSources, history: History): Promise<ConsoleState> {
  const { catalog, upstream, metrics, incidents, playground } = sources;
  const figures = readFigures(await metrics.values());
  const { budgetGb } = upstream;
  return {
    ...{ at: Date.now(), version: VERSION, playground },
    totals: totalsOf(figures),
    memory: {
      models: figures.sum('model_memory_bytes'),
      budget: budgetGb === undefined ? null : budgetGb * 1e9,
      gateway: figures.sum('memory_bytes'),
    },
    models: catalog.list().map((entry) => modelState(entry, figures, sources)),
    errors: incidents.list(),
    history: history.samples(),
  };
}

function totalsOf(figures: Figures): Totals {
  return {
    requests: figures.sum('requests_total'),
    errors: figures.sum('errors_total'),
    coldStarts: figures.sum('cold_starts_total'),
    underWay: figures.sum('under_way'),
    waiting: figures.sum('waiting'),
    servers: figures.sum('instances'),
    latency: latencyOf(figures.buckets('call_seconds')),
  };
}

function modelState(entry: ModelEntry, figures: Figures, sources: StateSources): ModelState {
  const { modelId, task, params, ramRequired, figures: basis } = entry;
  const of = (name: string, labels = {}) => figures.sum(name, { model: modelId, ...labels });
  const unmanaged = whyUnmanaged(entry, sources.upstream);
  const failure = sources.incidents.failureOf(modelId);
  const state = conditionOf((name, labels) => of(name, labels), failure !== undefined);
  return {
    ...{ id: modelId, task, params, size: ramRequired * 1e9, figures: basis },
    state: unmanaged === undefined ? state : 'elsewhere',
    reason: unmanaged ?? (state === 'failed' ? failure! : null),
    servers: of('instances'),
    underWay: of('under_way'),
    requests: of('requests_total'),
    errors: of('errors_total'),
    coldStarts: of('cold_starts_total'),
    latency: latencyOf(figures.buckets('call_seconds', { model: modelId })),
    usage: usageOf(figures, { model: modelId }),
  };
}

function conditionOf(of: (name: string, labels?: object) => number, hasFailed: boolean): ModelCondition {
  const servers = (state: string) => of('instances', { state });
  if (servers('ready') > 0) return of('under_way') > 0 ? 'busy' : 'warm';
  if (servers('starting') > 0) return 'starting';
  if (servers('draining') + servers('stopping') > 0) return 'stopping';
  return hasFailed ? 'failed' : 'cold';
}

/** Why servers of a model can't be started and stopped here; undefined where they can. */
export function whyUnmanaged({ remote }: ModelEntry, { stop }: Pick<Upstream, 'stop'>): string | undefined {
  if (remote) return 'another server answers for this model; it can’t be started or stopped here';
  return stop ? undefined : 'this gateway does not run the servers of its models (--upstream)';
}
