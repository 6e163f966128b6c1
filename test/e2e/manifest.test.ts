import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
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

/** @throws with the log when the server does not answer in time */
async function expectAnswer(id: string, { cases }: ZooModel): Promise<void> {
  const url = await addressOf(id);
  for (let tries = 0; tries < 120; tries++) {
    const health = await fetch(`${url}/health`).catch(() => undefined);
    await health?.body?.cancel();
    if (health?.ok) break;
    await delay(500);
  }
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
