import { jest } from '@jest/globals';
import { join } from 'node:path';
import { modelEnv, ROOT, startServer } from '../fakes/server.js';

jest.setTimeout(120_000);

const CHAT = join(ROOT, 'test/fixtures/zoo/chat/llama-chat/repo');
/** Of a sort that takes seconds. */
const LONG = '東京都'.repeat(2 ** 17).slice(0, 2 ** 18);

const ask = (content: string, params: object = {}) => ({ messages: [{ role: 'user', content }], params });

test('streams go on while a long prompt is tokenised, which is answered as any other', async () => {
  const server = await startServer(await modelEnv(CHAT, { task: 'chat' }));
  try {
    await server.ready();
    const waits = { isAnswered: false };
    const long = server
      .run(ask(LONG, { max_new_tokens: 2 }))
      .then(async (answer) => ({ status: answer.status, body: (await answer.json()) as { error: string } }))
      .finally(() => (waits.isAnswered = true));
    await new Promise((resolve) => setTimeout(resolve, 100));
    // Each is a stream of many steps; all but the last one ended before the long prompt was in tokens.
    let streams = 0;
    let pieces = 0;
    while (!waits.isAnswered) {
      const stream = await server.run({
        ...ask('Hi', { max_new_tokens: 40, min_new_tokens: 40 }),
        stream: true,
      });
      for await (const _ of stream.body!) pieces += 1;
      streams += 1;
    }
    expect(streams).toBeGreaterThan(3);
    expect(pieces).toBeGreaterThan(20);
    // The model reads 512 tokens: what it says shows that the thread counted them.
    const { status, body } = await long;
    expect([status, body.error]).toEqual([422, expect.stringMatching(/prompt .*\d{6} tokens/)]);
  } finally {
    await server.stop();
  }
});
