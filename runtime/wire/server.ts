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
  const server = createServer(options, (request, response) => {
    response.setTimeout(stallMs, () => void (response.socket?.writableLength && response.destroy()));
    app(request, response);
  });
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
