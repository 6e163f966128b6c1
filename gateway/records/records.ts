import path from 'node:path';
import type { Logger } from '../../runtime/log.js';
import { type AuditLog, openAuditLog } from '../audit/audit-log.js';
import { createRefusals } from '../audit/refusals.js';
import type { KeyChange } from '../keys/key-store.js';
import { recordLater } from '../../runtime/core/outbox.js';
import { VERSION } from '../package.js';
import type { ModelEvent } from '../upstream/upstream.js';
import { openJournal } from '../usage/journal.js';
import { createReports, type ReportedRun } from '../usage/reported.js';
import type { UsageRow } from '../usage/row.js';
import { callLog } from './call-log.js';
import type { FinishedCall } from './finished-call.js';
import type { GatewayMetrics } from './metrics.js';
import { currentDay, usageRow } from './usage-row.js';

export interface RecordFlags {
  /** File of the usage; none: it is not kept. */
  usage?: string;
  /** File of the audit log. */
  audit?: string;
}

/** What is kept of what happens, and told in the log. */
export interface Records {
  call(call: FinishedCall): void;
  model(event: ModelEvent): void;
  keys(change: KeyChange): void;
  /** What containers tell. */
  report(keyId: string, runs: readonly ReportedRun[]): void;
  /** The gateway ends. */
  close(): Promise<void>;
}

/** Between lines on refused calls. */
const TELL_MS = 5000;

/** @throws GatewayError when a file can't be written */
export async function openRecords(
  { usage, audit }: RecordFlags,
  { logger, metrics }: { logger: Logger; metrics: GatewayMetrics },
): Promise<Records> {
  const journal =
    usage === undefined
      ? undefined
      : await openJournal(path.resolve(usage), { log: (line) => logger.warn(line) });
  const log =
    audit === undefined ? undefined : await openAuditLog(path.resolve(audit), (line) => logger.warn(line));
  const watch = log && watchRefusals(log);
  const rowsOf = createReports(currentDay);
  const use = (row: UsageRow) => {
    metrics.addUsage(row);
    journal?.add(row);
  };
  log?.write({ event: 'gateway-started', version: VERSION, pid: process.pid });
  const tell = callLog(logger);
  const calls = recordLater((call: FinishedCall) => {
    tell(call);
    metrics.count(call);
    const row = usageRow(call);
    if (row) use(row);
    watch?.count(call);
  });
  return {
    call: calls.put,
    model: ({ event, modelId, reason }) => log?.write({ event: `model-${event}`, model: modelId, reason }),
    keys: ({ change, id, name }) => log?.write({ event: `key-${change}`, key: id, name }),
    report(keyId, runs) {
      for (const row of rowsOf(keyId, runs)) use(row);
    },
    async close() {
      calls.flush();
      watch?.close();
      log?.write({ event: 'gateway-stopped' });
      await Promise.all([journal?.close(), log?.close()]);
    },
  };
}

function watchRefusals(log: AuditLog) {
  const { count, flush: tell } = createRefusals((event) => log.write(event));
  const timer = setInterval(tell, TELL_MS).unref();
  const reopen = () => void log.reopen();
  process.on('SIGHUP', reopen);
  return {
    count,
    close() {
      clearInterval(timer);
      process.off('SIGHUP', reopen);
      tell();
    },
  };
}
