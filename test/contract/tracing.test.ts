import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../runtime/log.js';
import { openTracer } from '../../runtime/tracing/open-tracer.js';
import type { TracingSettings } from '../../runtime/tracing/settings.js';
import { passOn, type Tracer } from '../../runtime/tracing/tracer.js';
import { fakeApp } from '../fakes/app.js';
import { closeServers, gateway, secret, started } from '../fakes/gateway.js';

afterEach(closeServers);

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

/** Spans as OTLP writes them in JSON. */
interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: Record<string, unknown> }[];
}

/** A collector of traces on loopback. */
async function collector(status = 200) {
  const bodies: string[] = [];
  const seen: Record<string, unknown>[] = [];
  const address = await started(
    createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        bodies.push(Buffer.concat(chunks).toString());
        seen.push({ ...request.headers, url: request.url });
        response.writeHead(status).end();
      });
    }),
  );
  const spans = () =>
    bodies.flatMap((body) => {
      type Request = { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
      return (JSON.parse(body) as Request).resourceSpans.flatMap(({ scopeSpans }) =>
        scopeSpans.flatMap((scope) => scope.spans),
      );
    });
  return { address, bodies, seen, spans };
}

const settings = (address: string, more: Partial<TracingSettings> = {}): TracingSettings => ({
  ...{ url: `${address}/v1/traces`, format: 'json', timeoutMs: 2000, headers: { 'api-key': 'mine' } },
  ...{ serviceName: undefined, attributes: {} },
  ...more,
});

const tracerOf = (given: TracingSettings, lines: string[] = []): Promise<Tracer> =>
  openTracer(given, { name: 'test', version: '1' }, { fetch, log: (line) => lines.push(line) });

const attributesOf = ({ attributes }: Span) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

/** A gateway before a container, both with tracers. */
async function chain(tracers: [gateway: Tracer, container: Tracer], logger?: Logger): Promise<string> {
  const container = fakeApp({
    task: 'text-generation',
    tracer: tracers[1],
    run: async (_input, { onUsage }) => {
      onUsage?.({ tokensIn: 3, tokensOut: 2 });
      return 'an answer';
    },
  });
  return gateway({ container, parts: { tracer: tracers[0], ...(logger ? { logger } : {}) } });
}

const ask = (base: string, headers: Record<string, string> = {}) =>
  fetch(`${base}/org/name`, {
    method: 'POST',
    headers: { authorization: secret, 'content-type': 'application/json', ...headers },
    body: '{"text": "a secret text"}',
  });

test('the caller’s trace goes through the gateway to the container, a span each', async () => {
  const { address, spans, bodies, seen } = await collector();
  const tracers = [await tracerOf(settings(address)), await tracerOf(settings(address))] as const;
  const base = await chain([...tracers]);
  expect((await ask(base, { traceparent: `00-${TRACE}-${SPAN}-01` })).status).toBe(200);
  for (const tracer of tracers) await tracer.close();
  const [outer, inner] = ['POST model', 'POST /run'].map((wanted) =>
    spans().find(({ name }) => name === wanted)!,
  );
  expect(outer).toMatchObject({ traceId: TRACE, parentSpanId: SPAN });
  expect(inner).toMatchObject({ traceId: TRACE, parentSpanId: outer!.spanId });
  expect(attributesOf(inner!)).toMatchObject({
    'http.response.status_code': 200,
    'gen_ai.usage.input_tokens': 3,
    'gen_ai.usage.output_tokens': 2,
    'slipway.task': 'text-generation',
  });
  expect(attributesOf(outer!)).toMatchObject({ 'gen_ai.request.model': 'org/name' });
  expect(seen[0]).toMatchObject({ 'api-key': 'mine', url: '/v1/traces', 'content-type': 'application/json' });
  for (const body of bodies) {
    expect(body).not.toContain('a secret text');
    expect(body).not.toContain('an answer');
    expect(body).not.toContain(secret);
  }
});

test('what fails says why, in the span', async () => {
  const { address, spans } = await collector();
  const tracer = await tracerOf(settings(address));
  const base = await chain([tracer, passOn]);
  const answer = await fetch(`${base}/org/none`, { method: 'POST', headers: { authorization: secret } });
  expect(answer.status).toBe(404);
  await tracer.close();
  expect(attributesOf(spans()[0]!)).toMatchObject({
    'error.type': 'not_found',
    'http.response.status_code': 404,
  });
});

test('a trace that is not sampled is passed on, and not recorded', async () => {
  const { address, spans } = await collector();
  const tracer = await tracerOf(settings(address));
  let passed: string | undefined;
  const container = fakeApp({ task: 'text-generation', run: async () => 'x' });
  const base = await gateway({
    container: (request, response) => {
      passed = request.headers['traceparent'] as string;
      container(request, response);
    },
    parts: { tracer },
  });
  await ask(base, { traceparent: `00-${TRACE}-${SPAN}-00` });
  await tracer.close();
  expect(passed).toMatch(new RegExp(`^00-${TRACE}-(?!${SPAN})[\\da-f]{16}-00$`));
  expect(spans()).toEqual([]);
});

test('without a collector the trace is in the log lines; callers without one have none', async () => {
  const lines: Record<string, unknown>[] = [];
  const note = (facts: object) => void lines.push(facts as Record<string, unknown>);
  const logger = { info: note, debug: note, warn: note, error: note } as unknown as Logger;
  const base = await chain([passOn, passOn], logger);
  await ask(base, { traceparent: `00-${TRACE}-${SPAN}-01` });
  await ask(base);
  await wait(20);
  expect(lines.map(({ traceId }) => traceId)).toEqual([TRACE, undefined]);
});

test.each([
  ['refuses', async () => (await collector(500)).address],
  ['is not there', async () => 'http://127.0.0.1:1'],
])('a collector that %s holds up no answer, and is told of once', async (_, addressOf) => {
  const lines: string[] = [];
  const tracer = await tracerOf(settings(await addressOf()), lines);
  const base = await chain([tracer, passOn]);
  for (let i = 0; i < 3; i++) expect((await ask(base)).status).toBe(200);
  await tracer.close();
  expect(lines).toEqual([expect.stringMatching(/^traces are lost: the collector can't be reached/)]);
});

test('protobuf, by default', async () => {
  const { address, bodies, seen } = await collector();
  const tracer = await tracerOf(settings(address, { format: 'protobuf', serviceName: 'named' }));
  await ask(await chain([tracer, passOn]));
  await tracer.close();
  expect(seen[0]).toMatchObject({ 'content-type': 'application/x-protobuf' });
  expect(bodies[0]).toContain('POST model');
  expect(bodies[0]).toContain('named');
});
