import type { ModelSpec } from '../core/spec.js';
import type { Usage } from '../core/usage.js';
import type { AnyTask, Resolved } from '../tasks/define.js';

/** Where the server stands, as /health, /status and the log tell it. */
export interface ServiceStatus {
  state: 'starting' | 'downloading' | 'loading' | 'ready' | 'failed' | 'draining';
  /** Why it is not ready, where there is more to say than the state. */
  reason?: string | undefined;
  /** Share of the download, 0 to 1. */
  progress?: number | undefined;
  details: Record<string, unknown>;
}

/** The model behind the HTTP door. Requests wait in it until the model is ready. */
export interface ModelService {
  readonly spec: ModelSpec;
  readonly task: AnyTask;
  run(
    input: Resolved<unknown>,
    options: { signal: AbortSignal; onDelta?: (text: string) => void; onUsage?: (usage: Usage) => void },
  ): Promise<unknown>;
  status(): ServiceStatus;
}
