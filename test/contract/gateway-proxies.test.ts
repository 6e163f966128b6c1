import { createServer } from 'node:http';
import { staticUpstream } from '../../gateway/upstream/static.js';
import { UPSTREAM_POOLS } from '../../gateway/http/proxy.js';
import { readEnvironment } from '../../gateway/config.js';
import { createDispatcher } from '../../runtime/network/dispatcher.js';
import { closeServers, gateway, secret, started } from '../fakes/gateway.js';
import { openAiAnswer, provider, remoteGateway, run } from '../fakes/provider.js';
import { AUTHORITY, startProxy, startTlsFront } from '../fakes/proxy.js';

/** Servers of a static catalogue that are behind a proxy and have a certificate of a private authority. */

afterEach(closeServers);

test.each(['/org/name', '/openai/v1/completions'])(
  '%s through a proxy to a private authority',
  async (path) => {
    const container = await started(
      createServer((_request, response) =>
        response
          .setHeader('content-type', 'application/json; charset=utf-8')
          .end(JSON.stringify({ error: null, output: 'there' })),
      ),
    );
    const front = await startTlsFront(Number(new URL(container).port));
    const proxy = await startProxy({ targets: { 'other.test:443': front.port } });
    const { outgoing } = readEnvironment({ HTTPS_PROXY: proxy.url, SSL_CERT_FILE: AUTHORITY });
    const upstream = staticUpstream(createDispatcher(outgoing, UPSTREAM_POOLS));
    const base = await gateway({ models: [{ addresses: ['https://other.test'] }], parts: { upstream } });
    const answer = await fetch(base + path, {
      method: 'POST',
      headers: { authorization: `Key ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(path === '/org/name' ? { text: 'x' } : { model: 'org/name', prompt: 'x' }),
    });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('there')]);
    expect(proxy.requests).toEqual(['CONNECT other.test:443']);
    await upstream.close();
    await proxy.close();
    front.close();
  },
);

test('a provider of a model behind a proxy, with a private authority', async () => {
  const { url, asked } = await provider(openAiAnswer());
  const front = await startTlsFront(Number(new URL(url).port));
  const proxy = await startProxy({ targets: { 'other.test:443': front.port } });
  const { outgoing } = readEnvironment({ HTTPS_PROXY: proxy.url, SSL_CERT_FILE: AUTHORITY });
  const dispatcher = createDispatcher(outgoing, UPSTREAM_POOLS);
  const base = await remoteGateway(
    { url: 'https://other.test/v1' },
    { options: { openDispatcher: () => dispatcher } },
  );
  const messages = [{ role: 'user', content: 'x' }];
  expect(await run(base, { messages })).toMatchObject({ status: 200 });
  expect([proxy.requests, asked[0]!.path]).toEqual([['CONNECT other.test:443'], '/v1/chat/completions']);
  await dispatcher.destroy();
  await proxy.close();
  front.close();
});

test('proxies with a password are not for containers', () => {
  const env = { HTTPS_PROXY: 'http://u:p@proxy:1', NO_PROXY: 'a.b', http_proxy: 'http://proxy:1' };
  expect(readEnvironment(env).proxies).toEqual({ NO_PROXY: 'a.b', http_proxy: 'http://proxy:1' });
});
