import type { FinishedCall } from '../records/finished-call.js';
import type { ModelEvent } from '../upstream/upstream.js';
import type { ErrorRow } from './state.js';

/** The last errors, for operators: never a body, a path, a header or a message that a caller could have written. */
export interface Incidents {
  call(call: FinishedCall): void;
  model(event: ModelEvent): void;
  /** The newest first. */
  list(): ErrorRow[];
  /** Why the last start of a model failed; undefined after one that succeeded. */
  failureOf(modelId: string): string | undefined;
}

const MOST = 50;

/** Reasons hold the last words of a process. */
const MOST_CHARACTERS = 500;

/** Errors of one kind share a row, so that a flood of refusals leaves the others in place. */
export function createIncidents(now: () => number = Date.now): Incidents {
  const rows = new Map<string, ErrorRow>();
  const failures = new Map<string, string>();

  function add(row: Omit<ErrorRow, 'at' | 'times'>): void {
    const kind = JSON.stringify([row.code, row.status, row.model, row.key, row.reason]);
    const times = (rows.get(kind)?.times ?? 0) + 1;
    rows.delete(kind);
    rows.set(kind, { ...row, at: now(), times });
    if (rows.size > MOST) rows.delete(rows.keys().next().value!);
  }

  return {
    call({ code, status, model, keyId, requestId }) {
      if (code === undefined) return;
      add({ code, status, model: model?.modelId ?? null, key: keyId ?? null, requestId, reason: null });
    },
    model({ event, modelId, reason = '' }) {
      if (event === 'started') failures.delete(modelId);
      if (event !== 'failed') return;
      const why = reason.slice(0, MOST_CHARACTERS);
      failures.set(modelId, why);
      add({ code: 'not_started', status: null, model: modelId, key: null, requestId: null, reason: why });
    },
    list: () => [...rows.values()].toReversed(),
    failureOf: (modelId) => failures.get(modelId),
  };
}
