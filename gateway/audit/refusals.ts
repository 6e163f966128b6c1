import type { FinishedCall } from '../records/finished-call.js';
import type { AuditEvent } from './audit-log.js';

export interface Refusals {
  /** Counts a call that was refused for its key or over its limit; others are none of its business. */
  count(call: FinishedCall): void;
  /** Tells what was counted and begins again. */
  flush(): void;
}

/** Lines in one telling; what more callers did is added up in one more. */
const MOST = 20;

/**
 * Adds refused calls up, so that whoever makes thousands of them fills neither the disk nor the log: one line for each
 * address and key between two tellings.
 */
export function createRefusals(write: (event: AuditEvent) => void): Refusals {
  let rows = new Map<string, AuditEvent & { calls: number }>();

  function rowOf(event: string, { address, keyId, refusedKey }: FinishedCall): { calls: number } {
    const key = keyId ?? (refusedKey === undefined ? undefined : `sha256:${refusedKey}…`);
    const place = `${event} ${address} ${keyId ?? ''}`;
    const known = rows.get(place) ?? (rows.size < MOST ? undefined : rows.get('others'));
    if (known) return known;
    const fresh =
      rows.size < MOST
        ? { event, address, key, calls: 0 }
        : { event: 'calls-refused', address: 'others', calls: 0 };
    rows.set(rows.size < MOST ? place : 'others', fresh);
    return fresh;
  }

  return {
    count(call) {
      if (call.code === 'unauthorized') rowOf('key-refused', call).calls++;
      else if (call.code === 'rate_limited') rowOf('over-limit', call).calls++;
    },
    flush() {
      for (const row of rows.values()) write(row);
      rows = new Map();
    },
  };
}
