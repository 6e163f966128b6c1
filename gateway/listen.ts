import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import type { Server as HttpServer } from 'node:http';
import type { Response } from 'express';
import { setTimeout as sleep } from 'node:timers/promises';
import { RunError } from '../runtime/core/errors.js';
import type { Logger } from '../runtime/log.js';
import type { Connections } from '../runtime/wire/connections.js';
import { sendError } from '../runtime/wire/respond.js';
import { GatewayError } from './errors.js';

export interface ListenAddress {
  port: number;
  host: string;
  /** The option that sets it, for error messages. */
  flag: '--port' | '--metrics' | '--console';
}

const REASONS: Record<string, string> = {
  EADDRINUSE: 'it is taken',
  EACCES: 'this user may not open it',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'there is no such address',
};

/** @throws GatewayError with a remedy when the port can't be opened */
export async function listenOnAddress(server: Server, { port, host, flag }: ListenAddress): Promise<void> {
  server.listen(port, host);
  await once(server, 'listening').catch(({ code = '' }: NodeJS.ErrnoException) => {
    const flags = flag === '--port' ? '--port or --host' : flag;
    throw new GatewayError(
      `port ${port} of ${host} can't be opened: ${REASONS[code] ?? code}; give another ${flags}`,
    );
  });
}

/** Call it before anything starts: a gateway that can't listen must not take over the servers of an earlier run. */
export async function checkAddressFree(address: ListenAddress): Promise<void> {
  const server = createServer();
  await listenOnAddress(server, address);
  await new Promise((resolve) => server.close(resolve));
}

const STOPPED = new RunError('not_ready', 'the gateway is stopping', { retryAfter: 5 });

/** While connections are open, calls that are on their way are still taken. */
const LINGER_MS = 1000;

export interface Stopping {
  server: HttpServer;
  connections: Connections;
  /** Longest time for the calls under way. */
  graceMs: number;
  logger: Logger;
}

/**
 * Waits for SIGINT or SIGTERM, then closes the server: each connection ends with its answer, calls on connections that are
 * open are still answered, and idle ones are closed after a moment. Calls that are not done within `graceMs` get a
 * 503, or lose their connection where their answer has begun.
 */
export async function stopGatewayOnSignals(stopping: Stopping): Promise<void> {
  const { server, connections, graceMs, logger } = stopping;
  const signal = await new Promise<string>((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => resolve(name));
  });
  logger.info(`${signal}: stops when the calls under way are done, in ${graceMs / 1000} s at the latest`);
  connections.end();
  if ((await countConnections(server)) > 0) await sleep(LINGER_MS);
  const closed = once(server, 'close');
  // No new connections, and an end for those that have been idle since; the others go on.
  server.close();
  const done = new AbortController();
  await Promise.race([connections.settled(), refuseLate(stopping, done.signal)]);
  done.abort();
  server.closeAllConnections();
  await closed;
}

function countConnections(server: HttpServer): Promise<number> {
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));
}

async function refuseLate({ connections, graceMs }: Stopping, signal: AbortSignal): Promise<void> {
  await sleep(graceMs, undefined, { signal }).catch(() => undefined);
  if (signal.aborted) return;
  for (const response of connections.open) {
    if (response.headersSent) response.destroy();
    else sendError(response as Response, STOPPED, '');
  }
  // For the last answers to leave.
  await sleep(LINGER_MS);
}
