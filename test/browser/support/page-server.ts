import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { TaskId } from '../../../runtime/core/task-ids.js';
import type { AppDependencies } from '../../../runtime/http/app.js';
import { plannedModel, serveInline } from '../../parity/load.js';
import type { ZooModel } from '../../parity/zoo.js';

/** Files of the page, as they are built. */
export const PLAYGROUND = pathToFileURL(join(import.meta.dirname, '../../../dist/image/playground/'));

export interface PageServer {
  address: string;
  close(): Promise<void>;
}

/** A model with its page on a real socket, the engine in this process. */
export async function servePage(
  { task, about, repo }: ZooModel,
  more: Partial<AppDependencies> = {},
): Promise<PageServer> {
  const planned = await plannedModel(task as TaskId, about.id, repo);
  const served = await serveInline(planned.spec, planned.dir, undefined, { playground: PLAYGROUND, ...more });
  const server = createServer(served.app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      server.closeAllConnections();
      server.close();
      served.stop();
      await rm(planned.dir, { recursive: true });
    },
  };
}
