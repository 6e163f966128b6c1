import { createServer, type RequestListener, type Server } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { pendingRequests } from '../../gateway/http/proxy.js';
import { createLimits } from '../../gateway/limits/limits.js';
import { type LimitStore, memoryStore } from '../../gateway/limits/store.js';
import { countWaiting } from '../../gateway/upstream/count-waiting.js';
import { createPool, type Pool } from '../../gateway/upstream/pool.js';
import type { Launcher } from '../../gateway/upstream/upstream.js';
import { createByteBudget } from '../../runtime/wire/byte-budget.js';
import { closeServers, gatewayServer, JSON_TYPE, secret, started } from '../fakes/gateway.js';
import {
  atRest,
  bytesOf,
  type Gauges,
  leaveAnywhere,
  leaveAtEveryAwait,
  sendAheadAndLeave,
} from '../fakes/leaving.js';

/** Whoever leaves, and whenever: nothing stays held for them. */

let pool: Pool | undefined;
afterEach(async () => {
  await closeServers();
  await pool?.close();
});

/** A model's server that takes its time, and says how many requests it is at. */
function model() {
  let open = 0;
  const listener: RequestListener = async (request, response) => {
    open++;
    response.once('close', () => open--);
    let body = '';
    for await (const chunk of request) body += String(chunk);
    await turn();
    const asked = JSON.parse(body) as { text?: string; stream?: boolean };
    if (!asked.stream) {
      const output = request.url!.startsWith('/vectors')
        ? Array(5000).fill(0.25)
        : 'word '.repeat(asked.text === 'long' ? 50_000 : 3);
      response.setHeader('Content-Type', JSON_TYPE).end(JSON.stringify({ error: null, output }));
      return;
    }
    const events = request.headers.accept === 'text/event-stream';
    response.setHeader('Content-Type', events ? 'text/event-stream' : 'text/plain');
    for (let i = 0; i < 8 && !response.closed; i++) {
      response.write(events ? 'data: {"text":"word "}\n\n' : 'word ');
      await turn();
    }
    if (events) response.write('event: final\ndata: {"usage":{"tokens_in":1,"tokens_out":8}}\n\n');
    response.end();
  };
  return { listener, open: () => open };
}

/** As Redis: it answers later. */
function slowStore(): LimitStore {
  const store = memoryStore();
  return {
    ...store,
    async take(keyId, callId, rule) {
      await turn();
      await turn();
      return store.take(keyId, callId, rule);
    },
  };
}

async function watchedGateway(idleMs: number): Promise<{ server: Server; gauges: Gauges }> {
  const { listener, open } = model();
  const url = await started(createServer(listener));
  const launcher: Launcher = {
    async launch({ modelId }) {
      for (let i = 0; i < 5; i++) await turn();
      let end!: (reason: string) => void;
      const ended = new Promise<string>((resolve) => (end = resolve));
      return {
        url: modelId === 'org/vectors' ? `${url}/vectors` : url,
        ended,
        isAlive: async () => true,
        stop: async () => end('stopped'),
      };
    },
  };
  pool = createPool({ launcher, memoryGb: 8, idleMs, maxWaiting: 100, log: () => {} });
  const upstream = countWaiting(pool);
  const budget = createByteBudget(2 ** 24);
  const limits = createLimits({ calls: 1e9, seconds: 1, concurrent: 100 }, slowStore());
  const reports = createLimits({ calls: 1e9, seconds: 1 }, slowStore());
  const server = await gatewayServer({
    models: [
      {},
      { modelId: 'org/chat', task: 'chat' },
      { modelId: 'org/vectors', task: 'feature-extraction' },
    ],
    parts: {
      ...{ upstream, limits, body: { maxBytes: 2 ** 20, budget } },
      containers: { limits: reports, report: () => {}, version: '1' },
    },
  });
  await started(server);
  const gauges = () => ({
    'bytes held': budget.held,
    'calls of keys': limits.activeCalls() + reports.activeCalls(),
    'callers who wait': upstream.waiting(),
    leases: pool!.status!().reduce((sum, { leases }) => sum + leases, 0),
    'open questions': pendingRequests(),
    'requests at the model': open(),
  });
  return { server, gauges };
}

const HEADERS = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
const post = (path: string, body: object | Buffer, headers = {}) =>
  bytesOf('POST', path, { ...HEADERS, ...headers }, Buffer.isBuffer(body) ? body : JSON.stringify(body));
const get = (path: string) => bytesOf('GET', path, HEADERS);

const MODEL = '/models/v2/org/name';
const OPENAI = '/models/v2/openai/v1';
const text = { text: 'x'.repeat(3000) };
const messages = [{ role: 'user', content: 'x' }];

const REQUESTS: Record<string, Buffer> = {
  'a model': post(MODEL, text),
  'a model, by the whole address': post(`http://x${MODEL}`, text),
  'a model whose answer is long': post(MODEL, { text: 'long' }),
  'a stream': post(MODEL, { ...text, stream: true }),
  'a body in gzip': post(MODEL, gzipSync(JSON.stringify(text)), { 'content-encoding': 'gzip' }),
  'a body in Brotli': post(MODEL, brotliCompressSync(JSON.stringify(text)), { 'content-encoding': 'br' }),
  'a body that is asked for': post(MODEL, text, { expect: '100-continue' }),
  'a body of a megabyte': post(MODEL, { text: 'x'.repeat(3e5) }),
  'a body that is refused': post(MODEL, { text: 1 }),
  'no such model': post('/models/v2/org/none', text),
  'a chat': post(`${OPENAI}/chat/completions`, { model: 'org/chat', messages }),
  'a streamed chat': post(`${OPENAI}/chat/completions`, { model: 'org/chat', messages, stream: true }),
  'several completions': post(`${OPENAI}/completions`, { model: 'org/name', prompt: ['a', 'b', 'c'] }),
  'several streamed completions': post(`${OPENAI}/completions`, {
    model: 'org/name',
    prompt: ['a', 'b'],
    stream: true,
  }),
  embeddings: post(`${OPENAI}/embeddings`, { model: 'org/vectors', input: Array(8).fill('x') }),
  'Anthropic’s streamed messages': post('/v1/messages', {
    ...{ model: 'org/chat', messages, max_tokens: 3, stream: true },
  }),
  'a streamed response': post('/models/v2/org/chat/v1/responses', { input: 'x', stream: true }),
  'inputs as Hugging Face’s': post(MODEL, { inputs: ['a', 'b'] }),
  'texts to embed': post('/models/v2/org/vectors/embed', { inputs: ['a', 'b', 'c'] }),
  'a tool': post('/models/v2/org/chat/mcp', {
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name: 'chat', arguments: { messages } },
  }),
  "OpenAI's list": get(`${OPENAI}/models`),
  'the list': get('/models/v2/list/models'),
  'the tasks': get('/models/v2/list/tasks'),
  validate: post('/container/v1/validate', {}),
  events: post('/container/v1/events', { events: [] }),
  version: get('/container/v1/version'),
  document: get('/openapi.json'),
  health: get('/health'),
};

describe.each([
  ['warm', 60_000],
  ['cold', 0],
])('a %s model', (_, idleMs) => {
  test.each(Object.keys(REQUESTS))('%s: left at every await', async (name) => {
    const { server, gauges } = await watchedGateway(idleMs);
    const steps = await leaveAtEveryAwait(server, REQUESTS[name]!, gauges);
    expect(steps).toBeGreaterThan(0);
  });
});

test.each([1, 2, 3])('callers who leave anywhere, seed %i', async (seed) => {
  const { server, gauges } = await watchedGateway(seed === 1 ? 60_000 : 0);
  await leaveAnywhere(server, Object.values(REQUESTS), { seed, rounds: 60 });
  await atRest(gauges, `seed ${seed}`);
});

test('requests that were sent ahead hold nothing once their connection is gone', async () => {
  const { server, gauges } = await watchedGateway(60_000);
  const kept = Object.values(REQUESTS).map((bytes) =>
    Buffer.from(bytes.toString('latin1').replace('connection: close\r\n', ''), 'latin1'),
  );
  for (let i = 0; i < kept.length; i++) {
    await sendAheadAndLeave(server, [kept[0]!, kept[i]!, ...kept]);
    await atRest(gauges, `ahead ${i}`);
  }
});
