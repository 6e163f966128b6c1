import type { ModelSpec } from '../core/spec.js';
import type { Delta } from '../core/delta.js';
import type { Usage } from '../core/usage.js';
import type { ModelService, RunCallbacks, ServiceStatus } from '../http/service.js';
import type { LayerPlacement } from '../core/placement.js';
import type { Progress } from '../core/progress.js';
import { residentBytes } from '../memory.js';
import type { WeightsStatus } from '../sealed/check.js';
import type { AnyTask } from '../tasks/define.js';
import { runnableExample } from '../tasks/example.js';
import { VERSION } from '../version.js';
import type { Scheduler } from '../worker/scheduler.js';
import type { EngineState } from '../worker/engine-state.js';
import type { Supervisor } from '../worker/supervisor.js';

/** State of the preparation, updated by the composition root. */
export interface PreparationStatus {
  /** Progress of the download, 0 to 1. */
  progress: number | undefined;
  device: { asked: string; used: string | null; reason: string | null };
  offline: boolean;
  sealed: boolean;
  /** State of the check; sealed images only. */
  weights?: WeightsStatus | undefined;
}

export interface ServiceParts {
  spec: ModelSpec;
  task: AnyTask;
  scheduler: Scheduler;
  supervisor: Supervisor;
  preparation: PreparationStatus;
  /** Told of each run, for metrics. */
  observer?: RunObserver;
}

/** What is counted of runs. */
export interface RunObserver {
  tokens(usage: Usage): void;
  /** Milliseconds from the arrival of a request to the first piece of its text. */
  firstPiece(milliseconds: number): void;
}

/** The model for the HTTP side: a queue in front of a supervised engine. */
export function createService(parts: ServiceParts): ModelService & { drain(): Promise<void> } {
  const { spec, task, scheduler, supervisor, preparation, observer } = parts;
  let draining = false;
  const progress = new Set<{ now: Progress | undefined }>();
  return {
    spec,
    task,
    async run(input, options) {
      const own: { now: Progress | undefined } = { now: undefined };
      progress.add(own);
      const onStep = (now: Progress) => {
        own.now = now;
        options.onStep?.(now);
      };
      const told = observer ? observed(options, observer) : options;
      return scheduler.run(input, { ...told, onStep }).finally(() => progress.delete(own));
    },
    drain() {
      draining = true;
      return scheduler.drain();
    },
    status() {
      const details = { ...detailsOf(parts), steps: [...progress].flatMap(({ now }) => now ?? []) };
      if (draining) return { state: 'draining', details };
      return { ...stateOf(supervisor.state, preparation), details };
    },
  };
}

/** The options of a run, with the observer told beside the caller. */
function observed<T extends RunCallbacks>(options: T, observer: RunObserver): T {
  const { onUsage, onDelta } = options;
  const arrived = performance.now();
  let isFirst = true;
  return {
    ...options,
    onUsage(usage: Usage) {
      observer.tokens(usage);
      onUsage?.(usage);
    },
    ...(onDelta && {
      onDelta(delta: Delta) {
        if (isFirst) observer.firstPiece(performance.now() - arrived);
        isFirst = false;
        return onDelta(delta);
      },
    }),
  };
}

function stateOf(state: EngineState, { progress }: PreparationStatus): Omit<ServiceStatus, 'details'> {
  switch (state.name) {
    case 'idle':
      return { state: 'starting' };
    case 'preparing':
      return progress === undefined ? { state: 'starting' } : { state: 'downloading', progress };
    case 'failed':
      return { state: 'failed', reason: state.reason };
    case 'stopped':
      return { state: 'draining' };
    case 'loading':
      return {
        state: state.name,
        ...(state.read && { progress: state.read.doneBytes / state.read.totalBytes }),
      };
    default:
      return { state: state.name };
  }
}

function detailsOf({
  spec,
  task,
  scheduler,
  supervisor,
  preparation,
}: ServiceParts): Record<string, unknown> {
  return {
    model: spec.id,
    revision: spec.revision,
    commit: spec.commit,
    task: spec.task,
    engine: spec.engine,
    dtype: spec.dtype,
    ignored_config: spec.ignoredConfig ?? [],
    device: { ...preparation.device, placement: placementIn(supervisor.state) },
    offline: preparation.offline,
    sealed: preparation.sealed,
    weights: preparation.weights ?? null,
    running: scheduler.running,
    queued: scheduler.queued,
    graph_runs: supervisor.graphRuns,
    engine_restarts: supervisor.restarts,
    engine_pid: supervisor.pid ?? null,
    memory_bytes: {
      server: process.memoryUsage.rss(),
      engine: residentBytes(supervisor.pid) ?? null,
    },
    example: exampleOf(task, supervisor.state),
    tools: supervisor.state.name === 'ready' ? (supervisor.state.tools ?? null) : null,
    times_ms: supervisor.state.name === 'ready' ? supervisor.state.times : null,
    version: VERSION,
  };
}

const placementIn = (state: EngineState): LayerPlacement | null =>
  (state.name === 'ready' && state.placement) || null;

/** An example request for this model, without web addresses; null until it is ready. */
function exampleOf(task: AnyTask, state: EngineState): Record<string, unknown> | null {
  return state.name === 'ready' ? runnableExample({ ...task, example: state.example ?? task.example }) : null;
}
