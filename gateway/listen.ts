import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Logger } from '../runtime/log.js';
import { GatewayError } from './errors.js';

/** @throws GatewayError with the remedy when the port can't be had */
export async function listen(
  server: Server,
  { port: wanted, host }: { port: number; host: string },
): Promise<void> {
  server.listen(wanted, host);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    const remedy = error.code === 'EADDRINUSE' ? 'it is taken; give another --port' : error.code;
    throw new GatewayError(`port ${wanted} of ${host} can't be opened: ${remedy}`);
  });
}

const GRACE_MS = 30_000;

/** Resolves when a signal has closed the server: no new calls, and those under way may finish. */
export async function stopOnSignals(server: Server, logger: Logger): Promise<void> {
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
