import type { ModelSpec } from '../core/spec.js';
import type { Delta } from '../core/delta.js';
import type { Progress } from '../core/progress.js';
import type { Usage } from '../core/usage.js';
import type { AnyTask, Resolved } from '../tasks/define.js';

/** State of the server, for /health, /status and the log. */
export interface ServiceStatus {
  state: 'starting' | 'downloading' | 'loading' | 'ready' | 'failed' | 'draining';
  /** Why it is not ready, if the state alone does not say. */
  reason?: string | undefined;
  /** Share of the download, 0 to 1. */
  progress?: number | undefined;
  details: Record<string, unknown>;
}

export interface RunCallbacks {
  /** Pieces of the answer as they are made. */
  onDelta?: (delta: Delta) => void;
  /** Called when the steps begin and after each one, by tasks that tell them. */
  onStep?: (progress: Progress) => void;
  onUsage?: (usage: Usage) => void;
}

/** The model as seen by the HTTP side. Requests wait in it until the model is ready. */
export interface ModelService {
  readonly spec: ModelSpec;
  readonly task: AnyTask;
  run(input: Resolved<unknown>, options: { signal: AbortSignal } & RunCallbacks): Promise<unknown>;
  status(): ServiceStatus;
}
