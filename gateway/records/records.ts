import path from 'node:path';
import type { Logger } from '../../runtime/log.js';
import { type AuditLog, openAuditLog } from '../audit/audit-log.js';
import { createRefusals } from '../audit/refusals.js';
import { limitFacts } from '../limits/own-limits.js';
import type { ConsoleAudit } from '../console/audit.js';
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
  /** Usage file; no usage is kept when absent. */
  usage?: string;
  /** Audit log file; none is written when absent. */
  audit?: string;
}

/** Records events in the log, the metrics, the usage file and the audit log. */
export interface Records {
  call(call: FinishedCall): void;
  model(event: ModelEvent): void;
  keys(change: KeyChange): void;
  /** What operators do at the console. */
  console: ConsoleAudit;
  /** Runs that the containers of a key report. */
  report(keyId: string, runs: readonly ReportedRun[]): void;
  /** Writes what is left. */
  close(): Promise<void>;
}

/** Time between two summaries of refused calls. */
const REFUSALS_EVERY_MS = 5000;

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
  const refusals = log && watchRefusals(log);
  const sumReports = createReports(currentDay);
  const addUsage = (row: UsageRow) => {
    metrics.addUsage(row);
    journal?.add(row);
  };
  log?.write({ event: 'gateway-started', version: VERSION, pid: process.pid });
  const logCall = callLog(logger);
  const calls = recordLater((call: FinishedCall) => {
    logCall(call);
    metrics.count(call);
    const row = usageRow(call);
    if (row) addUsage(row);
    refusals?.count(call);
  });
  return {
    call: calls.put,
    model: ({ event, modelId, reason }) => log?.write({ event: `model-${event}`, model: modelId, reason }),
    keys: ({ change, id, name, limits }) =>
      log?.write({ event: `key-${change}`, key: id, name, ...limitFacts(limits) }),
    console: {
      write: (event) => log?.write(event),
      refused: (address) => refusals?.countConsole(address),
    },
    report(keyId, runs) {
      for (const row of sumReports(keyId, runs)) addUsage(row);
    },
    async close() {
      calls.flush();
      refusals?.close();
      log?.write({ event: 'gateway-stopped' });
      await Promise.all([journal?.close(), log?.close()]);
    },
  };
}

function watchRefusals(log: AuditLog) {
  const { count, countConsole, flush } = createRefusals((event) => log.write(event));
  const timer = setInterval(flush, REFUSALS_EVERY_MS).unref();
  const reopen = () => void log.reopen();
  process.on('SIGHUP', reopen);
  return {
    ...{ count, countConsole },
    close() {
      clearInterval(timer);
      process.off('SIGHUP', reopen);
      flush();
    },
  };
}
