import request from 'supertest';
import { fakeApp } from '../fakes/app.js';

describe('messages of a chat', () => {
  const seen: unknown[] = [];
  const app = fakeApp({
    task: 'chat',
    run: async (input) => {
      seen.push(input);
      return { role: 'assistant', content: '' };
    },
  });
  const user = { role: 'user', content: 'hi' };
  const call = { role: 'assistant', content: null, tool_calls: [{ function: { name: 'f', arguments: {} } }] };

  test('an assistant may have called a tool instead of saying something', async () => {
    const messages = [user, call, { role: 'tool', content: '3' }];
    expect((await request(app).post('/run').send({ messages })).status).toBe(200);
    expect(seen.at(-1)).toMatchObject({ messages });
  });

  test.each([
    { role: 'user' },
    { role: 'user', content: null },
    { role: 'user', content: 5 },
    { content: 'x' },
    'x',
  ])('%j is no message', async (message) => {
    const response = await request(app)
      .post('/run')
      .send({ messages: [message] });
    expect([response.status, response.body.error]).toEqual([400, expect.stringMatching(/^messages\.0/)]);
  });
});
