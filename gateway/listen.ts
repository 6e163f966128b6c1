import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import type { Server as HttpServer } from 'node:http';
import type { Logger } from '../runtime/log.js';
import { GatewayError } from './errors.js';

export interface ListenAddress {
  port: number;
  host: string;
  /** The option that sets it, for error messages. */
  flag: '--port' | '--metrics';
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

const GRACE_MS = 30_000;

/** Waits for SIGINT or SIGTERM, then closes the server. Running calls get `GRACE_MS` to finish. */
export async function stopGatewayOnSignals(server: HttpServer, logger: Logger): Promise<void> {
  const signal = await new Promise<string>((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => resolve(name));
  });
  logger.info(`${signal}: stops when the calls under way are done, in ${GRACE_MS / 1000} s at the latest`);
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  const late = setTimeout(() => server.closeAllConnections(), GRACE_MS);
  await closed;
  clearTimeout(late);
}
