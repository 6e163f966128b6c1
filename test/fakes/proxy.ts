import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request as httpRequest } from 'node:http';
import { type AddressInfo, connect, type Server as NetServer } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';

/** Files that scripts/fixtures/tls.sh makes. */
const TLS = join(import.meta.dirname, '..', 'fixtures/tls');

/** The private certificate authority of the servers here. */
export const AUTHORITY = join(TLS, 'ca.pem');

export interface Proxy {
  url: string;
  port: number;
  /** `METHOD target` of every request in order. */
  requests: string[];
  close(): Promise<void>;
}

export interface ProxyOptions {
  /** Ports on loopback by the `host:port` that is asked for; nothing else is reached. */
  targets: Record<string, number>;
  /** `user:password` that has to be given. */
  password?: string;
  host?: string;
}

/** An HTTP proxy on a socket of its own: requests in absolute form and tunnels. */
export async function startProxy({ targets, password, host = '127.0.0.1' }: ProxyOptions): Promise<Proxy> {
  const requests: string[] = [];
  const server = createServer();
  const allowed = ({ headers }: IncomingMessage) =>
    password === undefined ||
    headers['proxy-authorization'] === `Basic ${Buffer.from(password).toString('base64')}`;
  server.on('request', (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    if (!allowed(request)) return response.writeHead(407).end();
    const url = new URL(request.url!);
    const port = targets[`${url.hostname}:${url.port || 80}`];
    if (port === undefined) return response.writeHead(502).end();
    const { 'proxy-authorization': _, ...headers } = request.headers;
    const { method } = request;
    const onward = httpRequest(
      { host: '127.0.0.1', port, method, path: url.pathname + url.search, headers },
      (answer) => answer.pipe(response.writeHead(answer.statusCode!, answer.headers)),
    );
    onward.on('error', () => response.destroy());
    return request.pipe(onward);
  });
  server.on('connect', (request: IncomingMessage, socket) => {
    requests.push(`CONNECT ${request.url}`);
    socket.on('error', () => {});
    const port = targets[request.url!];
    if (!allowed(request)) return socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    if (port === undefined) return socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    const onward = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    return onward.on('error', () => socket.destroy());
  });
  const port = await listening(server, host);
  const close = async () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, port, requests, close };
}

/** A server that speaks TLS with a certificate of the private authority, in front of a port on loopback. */
export async function startTlsFront(port: number): Promise<{ port: number; close(): void }> {
  const read = (name: string) => readFileSync(join(TLS, name));
  const server = createTlsServer({ key: read('server.key'), cert: read('server.pem') }, (socket) => {
    const onward = connect(port, '127.0.0.1');
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
    socket.pipe(onward).pipe(socket);
  });
  return { port: await listening(server, '127.0.0.1'), close: () => void server.close() };
}

function listening(server: NetServer, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, () => resolve((server.address() as AddressInfo).port));
  });
}
