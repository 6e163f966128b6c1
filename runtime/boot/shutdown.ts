import type { Server } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from '../log.js';
import type { Connections } from '../wire/connections.js';
import type { Supervisor } from '../worker/supervisor.js';

export interface Stoppable {
  server: Server;
  connections: Connections;
  service: { drain(): Promise<void> };
  supervisor: Supervisor;
  /** Sends what it has recorded. */
  tracer: { close(): Promise<void> };
  graceMs: number;
  logger: Logger;
}

/**
 * On SIGTERM or SIGINT: reports unhealthy, ends each connection with its answer, refuses what has not begun, lets running
 * requests finish within the grace time, then ends the process. Idle connections stay open until then: a request that is
 * on its way on one of them gets a refusal, not a reset. A second signal ends the process at once.
 */
export function stopOnSignals(parts: Stoppable): void {
  let stopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping) process.exit(1);
      stopping = true;
      void stop(parts, signal);
    });
  }
}

/** The last spans are lost where the collector takes longer. */
const TRACES_MS = 2000;

const within = (ms: number, work: Promise<unknown>): Promise<unknown> =>
  Promise.race([work, new Promise((resolve) => setTimeout(resolve, ms))]);

async function stop(
  { server, connections, service, supervisor, tracer, graceMs, logger }: Stoppable,
  signal: string,
): Promise<void> {
  logger.info(`${signal}: stops when the requests under way are done, in ${graceMs / 1000} s at the latest`);
  const grace = new Promise<'late'>((resolve) => setTimeout(() => resolve('late'), graceMs));
  connections.end();
  const done = service.drain().then(() => connections.settled());
  const late = (await Promise.race([done, grace])) === 'late';
  if (late) logger.warn('some requests did not finish within SHUTDOWN_GRACE');
  // Downloads release their locks, and answers just written are sent.
  const stopped = supervisor.stop();
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  await within(500, Promise.all([stopped, closed]));
  // Finished calls are recorded at the end of their turn.
  await nextTurn();
  await within(TRACES_MS, tracer.close());
  process.exit(0);
}
