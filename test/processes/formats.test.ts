import { jest } from '@jest/globals';
import { join } from 'node:path';
import OpenAI from 'openai';
import { modelEnv, ROOT, startServer } from '../fakes/server.js';

/** Answers in a format, by OpenAI’s client over a real server of a tiny random model. */

jest.setTimeout(60_000);

const schema = {
  type: 'object',
  properties: { ok: { type: 'boolean' }, size: { enum: ['small', 'large'] } },
  required: ['ok', 'size'],
  additionalProperties: false,
};

test('a schema is followed, whole and streamed, greedy and sampled', async () => {
  const dir = join(ROOT, 'test/fixtures/zoo/chat/llama-chat/repo');
  const server = await startServer(await modelEnv(dir, { task: 'chat' }));
  const client = new OpenAI({ apiKey: 'k', baseURL: `${server.url}/v1`, maxRetries: 0 });
  try {
    await server.ready();
    const asked = {
      ...{ model: 'm', messages: [{ role: 'user' as const, content: 'hi' }], max_tokens: 60 },
      response_format: { type: 'json_schema' as const, json_schema: { name: 'a', strict: true, schema } },
    };
    for (const temperature of [0, 1, 2]) {
      const whole = await client.chat.completions.create({ ...asked, temperature, seed: 3 });
      const { message, finish_reason } = whole.choices[0]!;
      expect([JSON.parse(message.content!), finish_reason]).toEqual([
        { ok: expect.any(Boolean), size: expect.stringMatching(/^(?:small|large)$/) },
        'stop',
      ]);
      const stream = client.chat.completions.stream({ ...asked, temperature, seed: 3 });
      expect((await stream.finalChatCompletion()).choices[0]!.message.content).toBe(message.content);
    }
    const response_format = { type: 'json_schema' as const, json_schema: { name: 'a', schema: { not: {} } } };
    await expect(client.chat.completions.create({ ...asked, response_format })).rejects.toMatchObject({
      ...{ status: 400, param: 'response_format' },
    });
  } finally {
    await server.stop();
  }
});
