import request from 'supertest';
import { TASK_IDS } from '../../runtime/core/task-ids.js';
import { runnableExample } from '../../runtime/tasks/example.js';
import { paramNames } from '../../runtime/tasks/param-names.js';
import { taskOf } from '../../runtime/tasks/registry.js';
import { fakeApp } from '../fakes/app.js';
import { closeServers, gateway, secret } from '../fakes/gateway.js';

/** Parameters beside `params`, where they would do nothing in silence. */

afterEach(closeServers);

const app = fakeApp({ task: 'text-generation', run: async () => 'text' });
const send = (body: object) => request(app).post('/run').send(body);

test.each<object>([
  { text: 'x', max_new_tokens: 4 },
  { text: 'x', max_new_tokens: 4, params: {} },
  { text: 'x', max_new_tokens: 4, params: { max_new_tokens: 4 } },
  { text: 'x', stream: true, max_new_tokens: 'four' },
  { input: { text: 'x', max_new_tokens: 4 } },
  { input: 'x', max_new_tokens: 4 },
])('%j', async (body) => {
  const answer = await send(body);
  expect([answer.status, answer.body]).toEqual([
    400,
    {
      error: 'max_new_tokens: belongs in params, {"params": {"max_new_tokens": …}}',
      output: null,
    },
  ]);
});

test.each<object>([
  { text: 'x', max_new_tokens: null },
  { text: 'x', maximum: 4 },
  { text: 'x', threshold: 0.5 },
  { text: 'x', __proto__: { top_k: 1 }, constructor: 1, toString: 2 },
  { input: { text: 'x', whatever: 1 } },
  { text: 'x', params: { max_new_tokens: 4 } },
])('%j is answered: the keys are of nobody here', async (body) => {
  expect((await send(body)).status).toBe(200);
});

test.each(TASK_IDS)('%s: each of its parameters, by its own schema', async (id) => {
  const task = taskOf(id);
  const server = fakeApp({ task: id, run: async () => [] });
  const example = runnableExample(task) as { params?: Record<string, unknown> };
  for (const name of paramNames(task)) {
    const { status, body } = await request(server)
      .post('/run')
      .send({ ...example, [name]: example.params?.[name] ?? 1 });
    expect([name, status, body.error]).toEqual([
      name,
      400,
      expect.stringMatching(`^${name}: belongs in params`),
    ]);
    const unknown = await request(server)
      .post('/run')
      .send({ ...example, params: { [`${name}_`]: 1 } });
    expect([unknown.status, unknown.body.error]).toEqual([400, expect.stringMatching(/unknown parameter/)]);
  }
});

test('tasks have parameters; those of generation are known by name', () => {
  const without = TASK_IDS.filter((id) => paramNames(taskOf(id)).size === 0);
  expect(without).toEqual(['depth-estimation']);
  expect([...paramNames(taskOf('summarization'))]).toEqual(
    expect.arrayContaining(['num_beams', 'max_length']),
  );
});

test('the gateway refuses it before a model is started', async () => {
  const base = await gateway();
  const answer = await fetch(`${base}/org/name`, {
    method: 'POST',
    headers: { authorization: `Key ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'x', top_k: 3 }),
  });
  expect([answer.status, await answer.text()]).toEqual([
    400,
    expect.stringContaining('top_k: belongs in params'),
  ]);
});
