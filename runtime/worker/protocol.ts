import type { RowCounts } from '../core/row-counts.js';
import type { Delta } from '../core/delta.js';
import type { WireError } from '../core/errors.js';
import type { LayerPlacement } from '../core/placement.js';
import type { ReadProgress } from '../core/read-progress.js';
import type { Progress } from '../core/progress.js';
import type { ToolSupport } from '../core/tools.js';
import type { Usage } from '../core/usage.js';
import type { LoadRequest } from '../core/load-request.js';
import type { Resolved } from '../tasks/define.js';

/**
 * Messages between the two processes. They may hold bytes (structured clone), but no tensors. The parent chooses the id
 * of each run, and each run ends with exactly one `done` or `failed`.
 */
export type ToEngine =
  | { type: 'load'; request: LoadRequest }
  /** `deltas`: also send the answer's pieces as they are made. The output always has the whole answer. */
  | { type: 'run'; id: number; input: Resolved<unknown>; deltas: boolean }
  | { type: 'cancel'; id: number };

export type FromEngine =
  /** `read`: of large files, every few seconds until the model is ready. */
  | { type: 'progress'; phase: LoadPhase; read?: ReadProgress | undefined }
  | ({ type: 'ready' } & Loaded)
  | { type: 'load_failed'; error: WireError }
  /** Graph runs started so far; sent a few times a second while the number changes. */
  | { type: 'runs'; runs: number }
  /** Rows of the runs since the last such message; sent as often. */
  | { type: 'rows'; counts: RowCounts }
  /** Sent when the steps of a run begin and after each one, by tasks that tell them. */
  | { type: 'step'; id: number; progress: Progress }
  | { type: 'delta'; id: number; delta: Delta }
  | { type: 'done'; id: number; output: unknown; usage?: Usage | undefined }
  | { type: 'failed'; id: number; error: WireError };

/** Facts about a model that is ready. */
export interface Loaded {
  loadMs: number;
  /** Duration of the golden request. */
  goldenMs: number;
  /** An example request for this model, if the task's example does not suit it. */
  example?: Record<string, unknown> | undefined;
  /** Of chats: how answers are told apart. */
  tools?: ToolSupport | undefined;
  /** Where its layers are, of engines that place them. */
  placement?: LayerPlacement | undefined;
}

/** @param read of large files */
export type OnPhase = (phase: LoadPhase, read?: ReadProgress) => void;

export type LoadPhase = 'opening' | 'warming_up';
