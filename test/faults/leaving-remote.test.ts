import type { Server } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { remoteField } from '../../gateway/remote/remote.js';
import { remoteUpstream } from '../../gateway/remote/upstream.js';
import { createLimits } from '../../gateway/limits/limits.js';
import { countWaiting } from '../../gateway/upstream/count-waiting.js';
import { createDispatcher } from '../../runtime/network/dispatcher.js';
import { DIRECT } from '../../runtime/network/outgoing-settings.js';
import { createByteBudget } from '../../runtime/wire/byte-budget.js';
import { closeServers, gatewayServer, secret, started } from '../fakes/gateway.js';
import { atRest, bytesOf, type Gauges, leaveAnywhere, leaveAtEveryAwait } from '../fakes/leaving.js';
import {
  type Answer,
  anthropicAnswer,
  chunk,
  DONE,
  keyFile,
  openAiAnswer,
  provider,
  sends,
} from '../fakes/provider.js';
import { waitFor } from '../fakes/server.js';

/** Whoever leaves, and whenever: nothing stays open at a provider, and no place of a model stays taken. */

afterEach(closeServers);

/** A provider that takes its time, and refuses every second request of one model at first. */
function slowProvider(): Answer {
  let busy = 0;
  return async (response, asked) => {
    await turn();
    const { model, stream } = asked.body;
    if (asked.path.startsWith('/models/v2'))
      return sends({ error: null, output: 'x'.repeat(9000) })(response, asked);
    if (asked.path === '/embeddings')
      return sends({ data: [{ embedding: Array(3000).fill(0.5) }] })(response, asked);
    if (asked.path.startsWith('/v1/messages')) return anthropicAnswer()(response, asked);
    if (model === 'busy' && busy++ % 2 === 0) return sends({}, 429, { 'retry-after': '0' })(response, asked);
    if (!stream) return openAiAnswer()(response, asked);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let i = 0; i < 4 && !response.closed; i++) {
      response.write(chunk({ content: 'word ' }));
      await turn();
    }
    response.end(chunk({}, 'stop') + DONE);
  };
}

/** Each with one place for calls, so that one that stays taken is seen. */
async function watchedGateway(): Promise<{ server: Server; gauges: Gauges }> {
  const { url, open } = await provider(slowProvider());
  const file = await keyFile();
  const remote = (fields: object) =>
    remoteField.parse({
      kind: 'openai',
      url,
      model: 'm',
      keyFile: file,
      limits: { concurrent: 1 },
      ...fields,
    });
  const remotes = remoteUpstream({
    openDispatcher: () => createDispatcher(DIRECT),
    isRemote: () => true,
    log: () => {},
  });
  const upstream = countWaiting(remotes);
  const budget = createByteBudget(2 ** 24);
  const limits = createLimits({ calls: 1e9, seconds: 1, concurrent: 100 });
  const server = await gatewayServer({
    models: [
      { modelId: 'org/chat', task: 'chat', remote: remote({}) },
      { modelId: 'org/busy', task: 'chat', remote: remote({ model: 'busy' }) },
      { modelId: 'org/claude', task: 'chat', remote: remote({ kind: 'anthropic' }) },
      { modelId: 'org/far', task: 'text-generation', remote: remote({ kind: 'slipway', model: 'a/b' }) },
      { modelId: 'org/vectors', task: 'feature-extraction', remote: remote({}) },
    ],
    parts: { upstream, limits, body: { maxBytes: 2 ** 20, budget } },
  });
  await started(server);
  const gauges = () => ({
    'bytes held': budget.held,
    'calls of keys': limits.activeCalls(),
    'callers who wait': upstream.waiting(),
    'requests at the provider': open(),
  });
  return { server, gauges };
}

const post = (path: string, body: object, headers = {}) =>
  bytesOf(
    'POST',
    path,
    { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...headers },
    JSON.stringify(body),
  );

const messages = [{ role: 'user', content: 'x' }];
const events = { accept: 'text/event-stream' };
const openAi = '/models/v2/openai/v1';

const REQUESTS: Record<string, Buffer> = {
  whole: post('/models/v2/org/chat', { messages }),
  'as text': post('/models/v2/org/chat', { messages, stream: true }),
  'as events': post('/models/v2/org/chat', { messages, stream: true }, events),
  'OpenAI’s': post(`${openAi}/chat/completions`, { model: 'org/chat', messages, stream: true }),
  'a provider that is busy': post('/models/v2/org/busy', { messages }),
  'several texts': post(`${openAi}/embeddings`, { model: 'org/vectors', input: ['a', 'b', 'c'] }),
  'Anthropic’s, whole': post('/models/v2/org/claude', { messages }),
  'Anthropic’s, which counts first': post('/v1/messages', {
    ...{ model: 'org/claude', messages, max_tokens: 9, stream: true },
  }),
  'another gateway': post('/models/v2/org/far', { text: 'x' }),
  'what can’t be asked': post('/models/v2/org/chat', { messages, params: { num_beams: 3 } }),
};

const PLAIN: [string, object][] = [
  ['chat', { messages }],
  ['busy', { messages }],
  ['claude', { messages }],
  ['far', { text: 'x' }],
  ['vectors', { text: 'x' }],
];

/** Every model answers: no place stays taken. That of a call is given back a moment after its answer. */
async function answerAll(server: Server): Promise<void> {
  const { port } = server.address() as { port: number };
  for (const [name, body] of PLAIN)
    await waitFor(async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/models/v2/org/${name}`, {
        ...{ method: 'POST', body: JSON.stringify(body) },
        headers: { authorization: secret, 'content-type': 'application/json' },
      });
      await answer.text();
      expect([200, 429]).toContain(answer.status);
      return answer.status === 200;
    }, 5000);
}

test.each(Object.keys(REQUESTS))('%s: left at every await', async (name) => {
  const { server, gauges } = await watchedGateway();
  expect(await leaveAtEveryAwait(server, REQUESTS[name]!, gauges)).toBeGreaterThan(0);
  await answerAll(server);
});

test.each([1, 2])('callers who leave anywhere, seed %i', async (seed) => {
  const { server, gauges } = await watchedGateway();
  await leaveAnywhere(server, Object.values(REQUESTS), { seed, rounds: 60 });
  await atRest(gauges, `seed ${seed}`);
  await answerAll(server);
});
