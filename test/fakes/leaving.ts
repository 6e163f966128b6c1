import type { IncomingMessage, Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { promiseHooks } from 'node:v8';
import { randomOf } from '../faults/random.js';

/** What a server holds for those whom it serves, by name: all of it is 0 when nobody is there. */
export type Gauges = () => Record<string, number>;

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Waits until nothing is held any more. */
export async function atRest(gauges: Gauges, when: string): Promise<void> {
  const end = Date.now() + 5000;
  const busy = () => Object.entries(gauges()).filter(([, value]) => value !== 0);
  while (busy().length > 0) {
    if (Date.now() > end) throw new Error(`${when}: still held: ${JSON.stringify(busy())}`);
    await turn();
  }
}

/** A request as bytes that close the connection behind them. */
export function bytesOf(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: Buffer | string,
) {
  const content = Buffer.from(body ?? '');
  const lines = Object.entries({ host: 'x', connection: 'close', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const length = method === 'POST' ? `content-length: ${content.length}\r\n` : '';
  return Buffer.concat([
    Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}${length}\r\n`),
    content,
  ]);
}

function open(server: Server): { client: Socket; closed: Promise<unknown> } {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const closed = new Promise((resolve) => socket.once('close', resolve));
  return { client: socket.on('error', () => {}).resume(), closed };
}

/**
 * Sends the request again and again; its connection is destroyed the first time when it arrives, then when the first
 * promise goes on after that, then at the second, and so on, until an answer is complete before.
 * @returns how often the caller has left
 */
export async function leaveAtEveryAwait(server: Server, request: Buffer, gauges: Gauges): Promise<number> {
  for (let step = 0; ; step++) {
    if (!(await leaveAt(step, server, request))) return step;
    await atRest(gauges, `left at await ${step}`);
  }
}

async function leaveAt(step: number, server: Server, bytes: Buffer): Promise<boolean> {
  let left = step;
  let arrived: Socket | undefined;
  const count = () => {
    if (arrived && left-- === 0) arrived.destroy();
  };
  const arrive = ({ socket }: IncomingMessage) => {
    arrived = socket;
    count();
  };
  server.prependOnceListener('request', arrive);
  const stop = promiseHooks.onBefore(count);
  const { client, closed } = open(server);
  client.write(bytes);
  await closed;
  stop();
  server.off('request', arrive);
  return left < 0;
}

/** Callers who leave somewhere in their request, or some turns of the event loop later; several at a time. */
export async function leaveAnywhere(
  server: Server,
  requests: readonly Buffer[],
  { seed, rounds }: { seed: number; rounds: number },
): Promise<void> {
  const random = randomOf(seed);
  const one = async () => {
    const bytes = random.pick(requests);
    const { client, closed } = open(server);
    const share = random.chance(0.5) ? random.below(bytes.length) : bytes.length;
    const turns = random.below(60);
    client.write(bytes.subarray(0, share));
    for (let i = 0; i < turns; i++) await turn();
    client.destroy();
    await closed;
  };
  for (let i = 0; i < rounds; i++) await Promise.all([one(), one(), one(), one()]);
}

/** Several requests in one piece on one connection, which ends before the first is answered. */
export async function sendAheadAndLeave(server: Server, requests: readonly Buffer[]): Promise<void> {
  const { client, closed } = open(server);
  client.write(Buffer.concat(requests));
  for (let i = 0; i < 20; i++) await turn();
  client.destroy();
  await closed;
}
