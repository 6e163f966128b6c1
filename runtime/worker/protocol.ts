import type { WireError } from '../core/errors.js';
import type { Usage } from '../core/usage.js';
import type { LoadRequest } from '../core/load-request.js';
import type { Resolved } from '../tasks/define.js';

/**
 * What the two processes say to each other. Bytes cross (structured clone), tensors never. Every run has an id of the
 * parent's choosing and ends in exactly one `done` or `failed`.
 */
export type ToEngine =
  | { type: 'load'; request: LoadRequest }
  /** `deltas`: text is sent as it comes; it is in the output in any case. */
  | { type: 'run'; id: number; input: Resolved<unknown>; deltas: boolean }
  | { type: 'cancel'; id: number };

export type FromEngine =
  | { type: 'progress'; phase: LoadPhase }
  | ({ type: 'ready' } & Loaded)
  | { type: 'load_failed'; error: WireError }
  /** How many runs of its graphs it has begun; told a few times a second while they go on. */
  | { type: 'runs'; runs: number }
  | { type: 'delta'; id: number; text: string }
  | { type: 'done'; id: number; output: unknown; usage?: Usage | undefined }
  | { type: 'failed'; id: number; error: WireError };

/** What the parent learns of a model that is ready. */
export interface Loaded {
  loadMs: number;
  /** How long the golden request took. */
  goldenMs: number;
  /** Fields of a request that this very model answers, where the task's example is not one. */
  example?: Record<string, unknown> | undefined;
}

export type LoadPhase = 'opening' | 'warming_up';
