import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** The requests that a server is answering, and the end of its connections. */
export interface Connections {
  /** Responses that are not complete. */
  readonly open: ReadonlySet<ServerResponse>;
  /** From now on every connection ends with its answer, which says `Connection: close` where it has not begun. */
  end(): void;
  /** Resolves when nothing is being answered. */
  settled(): Promise<void>;
}

/** Follows a server's requests. Call it before the server listens. */
export function followConnections(server: Server): Connections {
  const open = new Set<ServerResponse>();
  let ending = false;
  let onSettled: (() => void)[] = [];

  function follow(response: ServerResponse): void {
    open.add(response);
    if (ending) endWith(response);
    response.once('close', () => {
      open.delete(response);
      if (open.size === 0) for (const resolve of onSettled.splice(0)) resolve();
    });
  }

  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    // A pipelined request waits for its turn, and may never have one.
    if (response.socket) follow(response);
    else response.once('socket', () => follow(response));
  });
  return {
    open,
    end() {
      ending = true;
      for (const response of open) endWith(response);
    },
    settled: () =>
      new Promise((resolve) => (open.size === 0 ? resolve() : (onSettled = [...onSettled, resolve]))),
  };
}

function endWith(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
  else response.once('finish', () => response.socket?.end());
}
