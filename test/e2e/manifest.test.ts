import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseAllDocuments } from 'yaml';
import { describeWithCompose, describeWithDocker } from './support/engine.js';
import { dockerArguments, makeVolumes, type Pod } from './support/pod.js';
import { docker, run } from './support/process.js';
import { openWorkshop, type Workshop } from './support/workshop.js';
import type { ZooModel } from '../parity/zoo.js';

/** Without a line at its end, as a file made by an editor has. */
const KEY = 'a key of this test\n';

let workshop: Workshop;
let folder: string;
const open = async () => {
  workshop = await openWorkshop();
  folder = await mkdtemp(path.join(tmpdir(), 'slipway-pod-'));
};
const close = async () => {
  await workshop.close();
  await rm(folder, { recursive: true, force: true });
};

async function manifest(...args: string[]): Promise<{ text: string; documents: unknown[] }> {
  const { code, stdout, stderr } = await workshop.builder(['manifest', ...args, '--json']);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as { text: string; documents: unknown[] };
}

/** Where a container answers: at its own address, on the port that manifests give it. */
async function addressOf(id: string): Promise<string> {
  const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}';
  return `http://${await docker('inspect', '--format', format, id)}:8080`;
}

async function untilReady(url: string): Promise<void> {
  for (let tries = 0; tries < 120; tries++) {
    const health = await fetch(`${url}/health`).catch(() => undefined);
    await health?.body?.cancel();
    if (health?.ok) return;
    await delay(500);
  }
  throw new Error('not ready in time');
}

async function expectAnswer(id: string, { cases }: ZooModel): Promise<void> {
  const url = await addressOf(id);
  await untilReady(url);
  expect((await fetch(`${url}/livez`)).status).toBe(200);
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify(cases[0]!.request);
  const answer = await fetch(`${url}/run`, { method: 'POST', headers, body });
  expect(await answer.json()).toMatchObject({ error: null, output: expect.anything() });
}

describeWithDocker('a pod of a manifest, under exactly its restrictions', () => {
  beforeAll(open);
  afterAll(close);

  async function podOf(image: string, ...flags: string[]): Promise<Pod> {
    const { documents } = await manifest(image, '--format', 'kubernetes', ...flags);
    return (documents[0] as { spec: { template: { spec: Pod } } }).spec.template.spec;
  }

  /** Its steps one after the other, then its server. @returns the server's container */
  async function start(pod: Pod, flags: string[] = []): Promise<string> {
    const place = await mkdtemp(path.join(folder, 'pod-'));
    await makeVolumes(pod, place, { key: KEY });
    for (const step of pod.initContainers ?? [])
      await docker('run', '--rm', ...flags, ...dockerArguments(pod, step, place));
    const label = `slipway-test=${workshop.namespace}`;
    return docker('run', '--detach', '--label', label, ...dockerArguments(pod, pod.containers[0], place));
  }

  afterEach(async () => {
    const ids = await docker('ps', '-aq', '--filter', `label=slipway-test=${workshop.namespace}`);
    if (ids !== '') await docker('rm', '--force', '--volumes', ...ids.split('\n'));
  });

  test('starts with its weights inside and answers', async () => {
    const { text } = workshop.hub.models;
    const image = await workshop.build(text.about.id, '--bake');
    const id = await start(await podOf(image));
    await expectAnswer(id, text);
    // What goes through a pod's file system is only what it has volumes for.
    expect((await run('docker', ['exec', id, 'touch', '/server/x'])).stderr).toContain(
      'Read-only file system',
    );
    expect(await docker('inspect', '--format', '{{.State.OOMKilled}} {{.Config.Env}}', id)).not.toContain(
      'a key',
    );
    await docker('stop', '--time', '30', id);
    expect(await docker('inspect', '--format', '{{.State.ExitCode}}', id)).toBe('0');
  });

  test('fetches the weights in a step of its own, into a volume that is root’s', async () => {
    const { stream } = workshop.hub.models;
    const image = await workshop.build(stream.about.id);
    const endpoint = ['--env', `HF_ENDPOINT=http://hub.test:${workshop.hub.port}`];
    const pod = await podOf(image, ...endpoint);
    const downloads = workshop.hub.downloads();
    const id = await start(pod, ['--add-host', 'hub.test:host-gateway']);
    const fetched = workshop.hub.downloads();
    expect(fetched).toBeGreaterThan(downloads);
    await expectAnswer(id, stream);
    expect(workshop.hub.downloads()).toBe(fetched);
  });
});

describeWithDocker('the image of the gateway, confined as templates/gateway.yaml says', () => {
  beforeAll(open);
  afterAll(close);

  test('serves the hosted interface with the keys of a mounted file', async () => {
    const image = `${workshop.namespace}/gateway:test`;
    const built = await run(process.execPath, ['scripts/gateway-image.mjs', image]);
    expect({ code: built.code, stdout: built.stdout }).toEqual({ code: 0, stdout: `${image}\n` });
    const deployment = parseAllDocuments(await readFile('templates/gateway.yaml', 'utf8'))
      .map((document) => document.toJS() as { kind: string; spec: { template: { spec: Pod } } })
      .find(({ kind }) => kind === 'Deployment')!;
    const pod = deployment.spec.template.spec;
    const [container] = pod.containers;
    const keys = path.join(folder, 'keys.json');
    const created = await run(process.execPath, [
      'dist/gateway/main.js',
      'keys',
      'create',
      '--keys',
      keys,
      '--name',
      'x',
    ]);
    const models = 'models: [{ id: org/name, task: chat, addresses: ["http://127.0.0.1:9"] }]';
    await makeVolumes(pod, folder, { 'keys.json': await readFile(keys, 'utf8'), 'models.yaml': models });
    // No API server is there to ask: the models come from a file.
    const args = container.args!.map((arg) => (arg === 'kubernetes' ? 'static' : arg));
    args.push('--catalog', '/run/secrets/slipway/models.yaml');
    const flags = dockerArguments(pod, { ...container, image, args }, folder);
    const id = await docker('run', '--detach', ...flags);
    try {
      const url = await addressOf(id);
      await untilReady(url);
      const list = (headers: Record<string, string>) => fetch(`${url}/models/v2/list/models`, { headers });
      expect((await list({})).status).toBe(401);
      const answer = await list({ authorization: created.stdout.trim() });
      expect(await answer.json()).toMatchObject({ output: [{ modelId: 'org/name' }] });
    } finally {
      await docker('rm', '--force', id);
    }
  });
});

describeWithCompose('a project of a manifest', () => {
  beforeAll(open);
  afterAll(close);

  test('fetches the weights, starts the server behind them, and opens no port', async () => {
    const { text } = workshop.hub.models;
    const image = await workshop.build(text.about.id);
    const endpoint = `HF_ENDPOINT=http://hub.test:${workshop.hub.port}`;
    const file = path.join(folder, 'compose.yaml');
    await workshop.builder(['manifest', image, '--format', 'compose', '--env', endpoint, '-o', file]);
    await writeFile(path.join(folder, 'key'), KEY);
    await chmod(path.join(folder, 'key'), 0o644);
    const hub = path.join(folder, 'hub.yaml');
    await writeFile(hub, '{"services":{"weights":{"extra_hosts":["hub.test:host-gateway"]}}}');
    const compose = (...args: string[]) =>
      run('docker-compose', ['-p', workshop.namespace, '-f', file, '-f', hub, ...args]);
    try {
      expect(await compose('config', '--quiet')).toEqual({ code: 0, stdout: '', stderr: '' });
      const { code, stderr } = await compose('up', '--detach');
      expect({ code, stderr }).toMatchObject({ code: 0 });
      const id = (await compose('ps', '--quiet', 'server')).stdout.trim();
      await expectAnswer(id, text);
      expect(await docker('port', id)).toBe('');
      expect((await run('docker', ['exec', id, 'id', '-u'])).stdout.trim()).toBe('1000');
    } finally {
      await compose('down', '--volumes', '--timeout', '20');
    }
  });
});
