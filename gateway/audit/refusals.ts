import type { FinishedCall } from '../records/finished-call.js';
import type { AuditEvent } from './audit-log.js';

export interface Refusals {
  /** Counts a call that was refused for its key or its rate limit; ignores all others. */
  count(call: FinishedCall): void;
  /** Counts a wrong key of the console. */
  countConsole(address: string): void;
  /** Writes the counts and resets them. */
  flush(): void;
}

type Refused = Pick<FinishedCall, 'address'> & Partial<Pick<FinishedCall, 'keyId' | 'refusedKey'>>;

/** Lines per flush. Further callers share one more line. */
const MAX_ROWS = 20;

/**
 * Counts refused calls per address and key and writes one line for each at every flush, so that a flood of refusals does
 * not fill the disk.
 */
export function createRefusals(write: (event: AuditEvent) => void): Refusals {
  let rows = new Map<string, AuditEvent & { calls: number }>();

  function rowOf(event: string, { address, keyId, refusedKey }: Refused): { calls: number } {
    const key = keyId ?? (refusedKey === undefined ? undefined : `sha256:${refusedKey}…`);
    const rowKey = `${event} ${address} ${keyId ?? ''}`;
    const known = rows.get(rowKey) ?? (rows.size < MAX_ROWS ? undefined : rows.get('others'));
    if (known) return known;
    const fresh =
      rows.size < MAX_ROWS
        ? { event, address, key, calls: 0 }
        : { event: 'calls-refused', address: 'others', calls: 0 };
    rows.set(rows.size < MAX_ROWS ? rowKey : 'others', fresh);
    return fresh;
  }

  return {
    count(call) {
      if (call.code === 'unauthorized') rowOf('key-refused', call).calls++;
      else if (call.code === 'rate_limited') rowOf('over-limit', call).calls++;
    },
    countConsole: (address) => void rowOf('console-key-refused', { address }).calls++,
    flush() {
      for (const row of rows.values()) write(row);
      rows = new Map();
    },
  };
}
