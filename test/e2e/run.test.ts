import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { describeWithDocker } from './support/engine.js';
import { docker } from './support/process.js';
import { openWorkshop, type Workshop } from './support/workshop.js';

describeWithDocker('builder run', () => {
  let workshop: Workshop;
  let child: ChildProcess | undefined;
  beforeAll(async () => void (workshop = await openWorkshop()));
  afterAll(async () => {
    child?.kill('SIGKILL');
    await workshop.close();
  });

  test('from an id to an address with a request to paste; Ctrl-C takes the container away', async () => {
    const { hub, namespace, folder } = workshop;
    const flags = [
      '--port',
      '0',
      '--namespace',
      namespace,
      '--cache',
      `${folder}/cache`,
      '--out',
      `${folder}/images`,
    ];
    const args = ['dist/builder/main.js', 'run', hub.models.text.about.id, '--hub', hub.url, ...flags];
    const env = { ...process.env, KEY: 'e2e-key', HF_TOKEN: 'hf_e2eSecretToken' };
    child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    const lines = createInterface({ input: child.stdout! });
    const [address] = (await once(lines, 'line')) as [string];
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);

    const body = JSON.stringify(hub.models.text.cases[0]!.request);
    const answer = await fetch(`${address}/run`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect(await answer.json()).toMatchObject({ error: null, output: [{ label: 'joy' }] });

    const filter = `ancestor=${namespace}/${hub.models.text.about.id.replace('/', '_')}`;
    const id = await docker('ps', '--quiet', '--filter', filter);
    expect(await docker('inspect', id)).not.toContain('hf_e2eSecretToken');

    child.kill('SIGINT');
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(130);
    expect(await docker('ps', '--all', '--quiet', '--filter', filter)).toBe('');
  });

  test('detached it returns and leaves the container running, with a key that inspect does not show', async () => {
    const { hub, folder } = workshop;
    const keyFile = `${folder}/key`;
    await writeFile(keyFile, 'e2e-file-key', { mode: 0o600 });
    const flags = ['--port', '0', '--detach', '--key-file', keyFile, '--json'];
    const { code, stdout, stderr } = await workshop.builder(['run', hub.models.text.about.id, ...flags]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const { address, container } = JSON.parse(stdout) as { address: string; container: string };
    try {
      expect((await fetch(`${address}/health`)).status).toBe(200);
      expect(await docker('inspect', container)).not.toContain('e2e-file-key');
    } finally {
      await docker('rm', '--force', container);
    }
  });
});
