import { jest } from '@jest/globals';
import { join } from 'node:path';
import { modelEnv, ROOT, startServer } from '../fakes/server.js';

jest.setTimeout(120_000);

const CHAT = join(ROOT, 'test/fixtures/zoo/chat/llama-chat/repo');
/** The longest text that is taken; of a sort that takes longest. */
const LONG = '東京都'.repeat(2 ** 17).slice(0, 2 ** 18);

test('a long text for the tokenizer holds up no generation, and who leaves ends its work', async () => {
  const server = await startServer(await modelEnv(CHAT, { task: 'chat' }));
  const post = (path: string, body: object, signal?: AbortSignal) =>
    fetch(server.url + path, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
      ...(signal && { signal }),
    });
  const ended: string[] = [];
  const told = (name: string) => async (answer: Response) => {
    await answer.text();
    ended.push(name);
    return answer.status;
  };
  try {
    await server.ready();
    const tokens = await (await post('/tokenize', { prompt: 'Hello' })).json();
    const long = post('/tokenize', { prompt: LONG }).then(told('tokens'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    const chat = { messages: [{ role: 'user', content: 'Hi' }], params: { max_new_tokens: 2 } };
    const runs = [0, 1, 2].map((i) => post('/run', chat).then(told(`run ${i}`)));
    expect(await Promise.all([long, ...runs])).toEqual([200, 200, 200, 200]);
    expect(ended.at(-1)).toBe('tokens');

    const leaver = new AbortController();
    const left = post('/tokenize', { prompt: LONG }, leaver.signal).catch(() => 'left');
    await new Promise((resolve) => setTimeout(resolve, 100));
    leaver.abort();
    expect(await left).toBe('left');
    expect(await (await post('/tokenize', { prompt: 'Hello' })).json()).toEqual(tokens);
    // Errors have their own status there, too.
    expect((await post('/detokenize', { tokens: [10 ** 6] })).status).toBe(400);
  } finally {
    await server.stop();
  }
});
