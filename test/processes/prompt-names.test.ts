import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { modelEnv, ROOT, startServer } from '../fakes/server.js';

const REPO = join(ROOT, 'test/fixtures/zoo-own/sentence-similarity/prompts-excluded/repo');

type Task = 'sentence-similarity' | 'feature-extraction';

test.each<Task>(['sentence-similarity', 'feature-extraction'])('prompts by name, %s', async (task) => {
  const server = await startServer(await modelEnv(REPO, { task }));
  const ask = async (path: string, body?: object) => {
    const headers = { 'content-type': 'application/json' };
    const init = body && { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await fetch(server.url + path, init);
    return { status: answer.status, content: (await answer.json()) as unknown };
  };
  try {
    await server.ready();
    const named = { prompt_name: 'query' };
    // One row for each token: a prompt that is named is as one that is written.
    const all = await ask('/embed_all', { inputs: 'a river', ...named });
    const written = await ask('/embed_all', { inputs: 'the query: a river', prompt_name: 'none' });
    expect(all).toEqual(written);
    const tokens = await ask('/tokenize', { inputs: 'a river', ...named });
    const { content: spans } = await ask('/tokenize', { inputs: 'the query: a river' });
    expect(tokens).toEqual({ status: 200, content: spans });
    expect((all.content as unknown[][])[0]).toHaveLength((spans as unknown[][])[0]!.length);

    const [usual, query, none] = await Promise.all(
      [{}, named, { prompt_name: 'none' }].map((more) => ask('/embed', { inputs: 'a river', ...more })),
    );
    expect([usual!.status, none!.status]).toEqual([200, 200]);
    expect(usual).toEqual(query);
    expect(none).not.toEqual(query);
    for (const path of ['/embed', '/embed_all', '/tokenize'])
      expect(await ask(path, { inputs: 'a', prompt_name: 'passage' })).toEqual({
        status: 422,
        content: expect.objectContaining({ error: expect.anything() }),
      });
    const { content } = await ask('/tokenize', { inputs: 'a', prompt_name: 'passage' });
    expect(JSON.stringify(content)).toMatch(/prompt_name: this model has no prompt .*passage.*query, .*none/);

    const info = await ask('/tokenizer_info');
    const config = JSON.parse(await readFile(join(REPO, 'tokenizer_config.json'), 'utf8')) as object;
    expect(info).toEqual({ status: 200, content: expect.objectContaining(config) });
  } finally {
    await server.stop();
  }
});
