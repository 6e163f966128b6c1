import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server of the tester's own, on this machine alone, which hands out media by their addresses. */
export interface MediaHost {
  /** Address of a medium; the file's name ends the path. */
  addressOf(index: number): string;
  /** Paths that were asked for, in their order. */
  asked: readonly string[];
  close(): Promise<void>;
}

/** @param media those that it has; all other paths are a 404 */
export async function hostMedia(media: readonly Buffer[]): Promise<MediaHost> {
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    const medium = media[Number(/^\/(\d+)\/medium$/.exec(url)?.[1] ?? -1)];
    response.statusCode = medium ? 200 : 404;
    response.setHeader('Content-Type', 'application/octet-stream');
    response.end(medium ?? 'nothing is here');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    asked,
    addressOf: (index) => `http://127.0.0.1:${port}/${index}/medium`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
