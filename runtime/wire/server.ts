import {
  createServer,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { envelope, JSON_TYPE } from './respond.js';

export interface ServerTimes {
  /** Longest time from a connection's or request's first byte to the end of its headers. */
  headersMs: number;
  /** Longest time for a whole request to arrive; the time of the answer is not limited. */
  requestMs: number;
  /** A client that reads no pending bytes for this long is disconnected. */
  stallMs: number;
}

const TIMES: ServerTimes = { headersMs: 60_000, requestMs: 300_000, stallMs: 60_000 };

/**
 * Node's HTTP server with the application. Requests that Node itself refuses (invalid HTTP, headers that are too long or
 * too slow) are also answered in the envelope.
 */
export function createHttpServer(app: RequestListener, times: Partial<ServerTimes> = {}): Server {
  const { headersMs, requestMs, stallMs } = { ...TIMES, ...times };
  const options = {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(30_000, headersMs),
    // The Host header is not needed, and Node's own refusal would not be in the envelope.
    requireHostHeader: false,
  };
  const server = createServer(
    options,
    oneAtATime((request, response) => {
      response.setTimeout(stallMs, () => void (response.socket?.writableLength && response.destroy()));
      app(request, response);
    }),
  );
  // The code that reads the body sends 100 Continue.
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  // Unknown expectations may be ignored (RFC 9110, 10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', (_request, socket) => refuse(socket, 405, 'CONNECT is not allowed here'));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || isAnswering(socket)) socket.destroy();
    else refuse(socket, ...(REFUSALS[error.code ?? ''] ?? BROKEN));
  });
  return server;
}

/** Most pipelined requests of one connection. */
const MAX_PIPELINED = 64;

/**
 * Handles pipelined requests of a connection one after the other. Node emits all of them at once, but emits no `close` for
 * pending responses when the connection closes, so their resources would never be released.
 */
function oneAtATime(app: RequestListener): RequestListener {
  const ahead = new WeakMap<Duplex, number>();
  return (request, response) => {
    const { socket } = request;
    if (response.socket) return app(request, response);
    const waiting = (ahead.get(socket) ?? 0) + 1;
    ahead.set(socket, waiting);
    if (waiting > MAX_PIPELINED) return void socket.destroy();
    response.once('socket', () => {
      ahead.set(socket, ahead.get(socket)! - 1);
      app(request, response);
    });
  };
}

const BROKEN: [number, string] = [400, 'the request is not valid HTTP'];

const REFUSALS: Record<string, [number, string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request took too long to arrive'],
  HPE_HEADER_OVERFLOW: [431, 'the address or the headers are longer than 16384 bytes'],
};

/** True when part of an answer was sent on this connection, so that nothing else may be written to it. */
function isAnswering(socket: Duplex): boolean {
  // Node keeps the current response here and uses it for the same check.
  return (socket as { _httpMessage?: ServerResponse })._httpMessage?.headersSent ?? false;
}

function refuse(socket: Duplex, status: number, error: string): void {
  const body = envelope({ error, output: null });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    `Content-Type: ${JSON_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
