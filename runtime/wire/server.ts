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
  /** Longest time for a whole request to arrive. How long its answer takes is not counted. */
  requestMs: number;
  /** A client that takes none of the bytes that wait for it for so long is cut off. */
  stallMs: number;
}

const TIMES: ServerTimes = { headersMs: 60_000, requestMs: 300_000, stallMs: 60_000 };

/**
 * Node's HTTP server around the application. What Node refuses before there is a request (broken HTTP, headers that
 * are too long or too slow) is answered in the envelope as well.
 */
export function createHttpServer(app: RequestListener, times: Partial<ServerTimes> = {}): Server {
  const { headersMs, requestMs, stallMs } = { ...TIMES, ...times };
  const options = {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(30_000, headersMs),
    // There are no virtual hosts here; Node's own refusal would be no envelope.
    requireHostHeader: false,
  };
  const server = createServer(
    options,
    oneAtATime((request, response) => {
      response.setTimeout(stallMs, () => void (response.socket?.writableLength && response.destroy()));
      app(request, response);
    }),
  );
  // Whoever reads the body asks for it.
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  // An expectation that we don't know may be ignored (RFC 9110, 10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', (_request, socket) => refuse(socket, 405, 'CONNECT is not allowed here'));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || answering(socket)) socket.destroy();
    else refuse(socket, ...(REFUSALS[error.code ?? ''] ?? BROKEN));
  });
  return server;
}

/** Requests that may be sent ahead on one connection, before those before them are answered. */
const MOST_AHEAD = 64;

/**
 * Requests of one connection, one after the other. Node hands over all that have been sent at once, and is silent about
 * the responses whose turn has not come when the connection closes: what they hold would be held for ever.
 */
function oneAtATime(app: RequestListener): RequestListener {
  const ahead = new WeakMap<Duplex, number>();
  return (request, response) => {
    const { socket } = request;
    if (response.socket) return app(request, response);
    const waiting = (ahead.get(socket) ?? 0) + 1;
    ahead.set(socket, waiting);
    if (waiting > MOST_AHEAD) return void socket.destroy();
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

/** True when a part of an answer has gone out on this connection: more bytes would be taken for the rest of it. */
function answering(socket: Duplex): boolean {
  // Node keeps the answer under way here and looks at it for the same purpose.
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
