import { jest } from '@jest/globals';
import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeServers, gateway, secret } from '../fakes/gateway.js';
import { modelEnv, ROOT, startServer } from '../fakes/server.js';

/** Numbers of a body that a chat template prints: through a real server, and through the gateway's OpenAI interface. */

jest.setTimeout(60_000);
afterEach(closeServers);

const CHAT = join(ROOT, 'test/fixtures/zoo/chat/llama-chat/repo');
const NUMBERS = '[1.0, -0.0, 1e5, 9007199254740993, -123456789012345678901234567890, 1.5, 3]';
const AS_PYTHON = '[1.0, -0.0, 100000.0, 9007199254740993, -123456789012345678901234567890, 1.5, 3]';

test('tool schemas, documents, keys of messages and variables of the template', async () => {
  const dir = join(await mkdtemp(join(tmpdir(), 'slipway-numbers-')), 'repo');
  await cp(CHAT, dir, { recursive: true });
  // A template tells a caller what it refuses.
  const config = JSON.parse(await readFile(join(dir, 'tokenizer_config.json'), 'utf8')) as object;
  const said = '[tools, documents, messages[0].given, extra or none] | tojson';
  const chat_template = `{% if messages[0].given is defined %}{{ raise_exception(${said}) }}{% endif %}{{ messages[0].content }}`;
  await writeFile(join(dir, 'tokenizer_config.json'), JSON.stringify({ ...config, chat_template }));
  const server = await startServer(await modelEnv(dir, { task: 'chat' }));
  try {
    const message = `{"role":"user","content":"hi","given":${NUMBERS}}`;
    const body = `{"messages":[${message}],"params":{"tools":[{"n":${NUMBERS}}],"documents":[{"n":${NUMBERS}}],
      "temperature":1.0,"chat_template_kwargs":{"extra":${NUMBERS}}}}`;
    const headers = { 'content-type': 'application/json' };
    await server.ready();
    const answer = await post(`${server.url}/run`, headers, body);
    expect(answer).toContain(`[[{"n": ${AS_PYTHON}}], [{"n": ${AS_PYTHON}}], ${AS_PYTHON}, ${AS_PYTHON}]`);
    // Long enough to be scanned and parsed in turns.
    const long = body.replace('"content":"hi"', `"content":"${'hi '.repeat(40_000)}"`);
    expect(await post(`${server.url}/run`, headers, long)).toContain(`${AS_PYTHON}, ${AS_PYTHON}]`);

    const base = await gateway({ models: [{ task: 'chat', addresses: [server.url] }] });
    const keyed = { ...headers, authorization: `Key ${secret}` };
    expect(await post(`${base}/org/name`, keyed, body)).toContain(`${AS_PYTHON}, ${AS_PYTHON}]`);
    const asked = `{"model":"org/name","temperature":1.0,"messages":[${message}]}`;
    expect(await post(`${base}/openai/v1/chat/completions`, keyed, asked)).toContain(
      `[null, null, ${AS_PYTHON}, null]`,
    );
  } finally {
    await server.stop();
  }
});

async function post(url: string, headers: Record<string, string>, body: string): Promise<string> {
  const answer = await fetch(url, { method: 'POST', headers, body });
  const { error } = (await answer.json()) as { error: string | { message: string } };
  return typeof error === 'string' ? error : error.message;
}
