import type { RequestListener } from 'node:http';
import { closeServers, gateway, JSON_TYPE, secret } from '../fakes/gateway.js';

/** What OpenAI's interface passes on, and what it tells of models. */

afterEach(closeServers);

const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };

/** A model's server that keeps what it was asked. */
function keeping() {
  const asked: Record<string, unknown>[] = [];
  const listener: RequestListener = async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    asked.push(JSON.parse(body) as Record<string, unknown>);
    const output = { role: 'assistant', content: 'Ahoy' };
    response.setHeader('Content-Type', JSON_TYPE).end(JSON.stringify({ error: null, output }));
  };
  return { asked, listener };
}

test.each([
  ['max_tokens', { max_tokens: 7 }],
  ['max_completion_tokens', { max_completion_tokens: 7 }],
])('the length of a chat’s answer reaches the model: %s', async (_, given) => {
  const { asked, listener } = keeping();
  const base = await gateway({ container: listener, models: [{ task: 'chat' }] });
  const body = JSON.stringify({ model: 'org/name', messages: [{ role: 'user', content: 'Hi' }], ...given });
  const answer = await fetch(`${base}/openai/v1/chat/completions`, { method: 'POST', headers, body });
  expect(await answer.json()).toMatchObject({ choices: [{ message: { content: 'Ahoy' } }] });
  expect(asked).toMatchObject([{ params: { max_new_tokens: 7 } }]);
});

test('only models that an endpoint asks are listed', async () => {
  const models = [
    { modelId: 'org/chat', task: 'chat' as const },
    { modelId: 'org/images', task: 'image-classification' as const },
  ];
  const answer = await fetch(`${await gateway({ models })}/openai/v1/models`, { headers });
  expect(await answer.json()).toMatchObject({ object: 'list', data: [{ id: 'org/chat' }] });
  const one = await fetch(`${await gateway({ models })}/openai/v1/models/org/images`, { headers });
  expect(one.status).toBe(404);
});
