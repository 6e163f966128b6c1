import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { openClient } from '../../../../builder/bench/client.js';
import { runLoad } from '../../../../builder/bench/load.js';
import { percentile, ratioOf, summarise } from '../../../../builder/bench/statistics.js';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/run`;
}

const signal = new AbortController().signal;
const client = (url: string, connections = 64, timeoutMs = 5000, bodies = ['{}']) =>
  openClient(
    { url, headers: { 'content-type': 'application/json' }, bodies: bodies.map((body) => Buffer.from(body)) },
    { connections, timeoutMs },
  );

test('several bodies are sent in turn', async () => {
  const seen: string[] = [];
  const url = await serve(async (request, response) => {
    seen.push(await text(request));
    response.end('{}');
  });
  const sender = client(url, 1, 5000, ['"short"', '"a longer one"', '3']);
  await runLoad(sender, { concurrency: 1 }, { warmupMs: 0, requests: 7, signal });
  await sender.close();
  const round = ['"short"', '"a longer one"', '3'];
  expect(seen).toEqual([...round, ...round, '"short"']);
});

test('a closed loop has as many requests under way as it says, and counts what the server counts', async () => {
  let [open, most, seen] = [0, 0, 0];
  const url = await serve((_, response) => {
    most = Math.max(most, ++open);
    seen++;
    setTimeout(() => {
      open--;
      response.end('{}');
    }, 20);
  });
  const sender = client(url);
  const measured = await runLoad(sender, { concurrency: 3 }, { warmupMs: 0, requests: 30, signal });
  await sender.close();
  expect({ most, seen, outcomes: measured.outcomes.length, answered: measured.answered }).toEqual({
    ...{ most: 3, seen: 30, outcomes: 30, answered: 30 },
  });
  const { latency, requestsPerSecond } = summarise({ concurrency: 3 }, [measured], null);
  expect(latency!.p50).toBeGreaterThan(19);
  // Three at a time, 20 ms each.
  expect(requestsPerSecond).toBeLessThanOrEqual(151);
  expect(requestsPerSecond).toBeCloseTo(30 / measured.seconds, 6);
});

test('an open loop sends by its schedule, and a server that stands still delays all that was due meanwhile', async () => {
  let stands: Promise<unknown> | undefined;
  let seen = 0;
  const url = await serve(async (_, response) => {
    if (++seen === 20) stands = sleep(500);
    await stands;
    response.end('{}');
  });
  const sender = client(url, 1);
  const measured = await runLoad(sender, { rate: 100 }, { warmupMs: 0, durationMs: 1000, signal });
  await sender.close();
  const { latency, requests } = summarise({ rate: 100 }, [measured], null);
  expect(requests).toBe(100);
  // 50 requests were due while it stood still and waited 250 ms on average. A closed loop would show one slow request.
  expect(measured.outcomes.filter(({ due, ended }) => ended - due > 100).length).toBeGreaterThan(35);
  expect(latency!.p90).toBeGreaterThan(300);
});

test('the warm-up is sent and not measured', async () => {
  let seen = 0;
  const url = await serve((_, response) => void response.end(String(++seen)));
  const sender = client(url);
  const measured = await runLoad(sender, { rate: 50 }, { warmupMs: 400, durationMs: 400, signal });
  await sender.close();
  expect(measured.outcomes).toHaveLength(20);
  expect(seen).toBe(40);
  expect(measured.seconds).toBeCloseTo(0.4);
});

test('errors are told by status and code, and are no latencies', async () => {
  let seen = 0;
  const url = await serve((request, response) => {
    seen++;
    response.statusCode = seen % 3 === 1 ? 503 : 200;
    if (seen % 3 === 0) request.destroy();
    else if (seen !== 5) response.end('{}');
  });
  const sender = client(url, 1, 300);
  const measured = await runLoad(sender, { concurrency: 1 }, { warmupMs: 0, requests: 9, signal });
  await sender.close();
  const { errors, requests, latency, percentiles } = summarise({ concurrency: 1 }, [measured], null);
  expect(requests).toBe(9);
  expect(errors).toMatchObject({ 503: 3, timeout: 1 });
  expect(Object.values(errors).reduce((sum, count) => sum + count, 0)).toBe(7);
  expect(latency!.max).toBeLessThan(300);
  expect(percentiles).toHaveLength(101);
});

test('a stream gives the time to the first piece and the tokens that its end tells', async () => {
  const url = await serve(async (_, response) => {
    response.setHeader('content-type', 'text/event-stream; charset=utf-8');
    await sleep(30);
    response.write('data: {"text":"a"}\n\n');
    await sleep(60);
    response.write('data: {"text":"b"}\n\nevent: final\ndata: {"output":"ab","usage":{"tokens_out":7}}\n\n');
    response.end();
  });
  const sender = client(url);
  const { outcomes } = await runLoad(sender, { concurrency: 1 }, { warmupMs: 0, requests: 2, signal });
  await sender.close();
  const [{ due, first, ended, tokens }] = outcomes as [(typeof outcomes)[0]];
  expect(first! - due).toBeGreaterThan(25);
  expect(ended - first!).toBeGreaterThan(50);
  expect(tokens).toBe(7);
});

test('a stream that ends with an error is one', async () => {
  const url = await serve((_, response) => {
    response.setHeader('content-type', 'text/event-stream');
    response.end('data: {"text":"a"}\n\nevent: error\ndata: {"error":"no"}\n\n');
  });
  const sender = client(url);
  const { outcomes } = await runLoad(sender, { concurrency: 1 }, { warmupMs: 0, requests: 1, signal });
  await sender.close();
  expect(outcomes).toMatchObject([{ ok: false, status: 'broken stream' }]);
});

test('percentiles are values that were measured; ratios are of pairs', () => {
  const hundred = Array.from({ length: 100 }, (_, i) => i + 1);
  expect([0, 50, 95, 99, 100].map((percent) => percentile(hundred, percent))).toEqual([1, 50, 95, 99, 100]);
  expect(percentile([], 50)).toBe(0);
  expect(ratioOf([2, 3, 4], [1, 1, 1])).toEqual({ median: 3, low: 2, high: 4 });
  expect(ratioOf([1], [0])).toBeNull();
});
