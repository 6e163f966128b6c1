import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { modelEnv, ROOT, startServer } from '../fakes/server.js';

const VITS = join(ROOT, 'test/fixtures/zoo-own/text-to-speech/vits-voices/repo');

test('a voice of VITS by the name that its repository gives it', async () => {
  const repo = await mkdtemp(join(tmpdir(), 'vits-'));
  await cp(VITS, repo, { recursive: true });
  const path = join(repo, 'config.json');
  const config = JSON.parse(await readFile(path, 'utf8')) as object;
  await writeFile(path, JSON.stringify({ ...config, speaker_id_map: { anna: 0, bert: 2, cleo: 1 } }));
  const settings = { task: 'text-to-speech', engine: 'speech', profile: 'media' } as const;
  const server = await startServer(await modelEnv(repo, settings));
  const speech = async (voice: string) => {
    const body = JSON.stringify({ input: 'Hello there', voice, response_format: 'wav' });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${server.url}/v1/audio/speech`, { method: 'POST', headers, body });
    return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) };
  };
  try {
    await server.ready();
    const listed = (await (await fetch(`${server.url}/v1/audio/voices`)).json()) as object;
    expect(listed).toEqual({ voices: ['anna', 'cleo', 'bert'].map((name) => ({ id: name, name })) });
    const [anna, bert, second, nobody] = await Promise.all(['anna', 'bert', '2', 'dora'].map(speech));
    expect(
      [anna, bert, second, nobody].map(({ status } = { status: 0, bytes: Buffer.of() }) => status),
    ).toEqual([...[200, 200, 200, 422]]);
    expect(bert!.bytes.equals(second!.bytes)).toBe(true);
    expect(bert!.bytes.equals(anna!.bytes)).toBe(false);
    expect(nobody!.bytes.toString()).toMatch(/voice: the model has 3 voices, from 0 on: anna, cleo, bert/);
    const run = await server.run({ text: 'Hello there', params: { speaker_id: 'bert' }, json: true });
    expect(Buffer.from(await run.arrayBuffer()).equals(bert!.bytes)).toBe(true);
  } finally {
    await server.stop();
  }
});
