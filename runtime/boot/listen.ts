import type { Server } from 'node:http';
import { type ServerConfig, ConfigError } from './config.js';

/** @throws ConfigError that names the setting to change */
export function listen(server: Server, { PORT: port, HOST: host }: ServerConfig): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(new ConfigError(portProblem(error, port))));
    server.listen({ port, host }, resolve);
  });
}

function portProblem(error: NodeJS.ErrnoException, port: number): string {
  if (error.code === 'EACCES')
    return `PORT ${port} needs a privilege that this user lacks; set PORT to 1024 or above`;
  if (error.code === 'EADDRINUSE') return `PORT ${port} is taken by another program; set another PORT`;
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return 'HOST is no address of this machine';
  return `PORT ${port} can't be opened (${error.code})`;
}
