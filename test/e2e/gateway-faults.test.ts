import { spawn } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { zooModel, type ZooModel } from '../parity/zoo.js';
import { describeWithDocker, describeWithTwoEngines } from './support/engine.js';
import { containersOf, newKey, startGateway, type TestGateway } from './support/gateway.js';
import { builder, docker, run } from './support/process.js';
import { type SecondEngine, startSecondEngine } from './support/second-engine.js';

/** Images of some models in a namespace of their own, and keys. */
async function makeImages(given: [task: string, name: string][]) {
  const folder = await mkdtemp(path.join(tmpdir(), 'slipway-gateway-'));
  const name = `e2e-${path.basename(folder).slice(-6).toLowerCase()}`;
  const namespace = `slipway-${name}`;
  const models = await Promise.all(given.map(([task, model]) => zooModel(task, model)));
  for (const { about, repo, task } of models) {
    // Of a commit of its own: its image is none of a file that runs at the same time.
    const copy = path.join(folder, 'models', about.id);
    await cp(repo, copy, { recursive: true });
    await writeFile(path.join(copy, 'stamp.txt'), namespace);
    const from = ['--from', copy, '--task', task, '--bake'];
    const where = ['--namespace', namespace, '--out', path.join(folder, 'images')];
    const { code, stderr } = await builder(['build', about.id, ...from, ...where]);
    if (code !== 0) throw new Error(stderr);
  }
  const keys = path.join(folder, 'keys.json');
  const key = await newKey(keys);
  const args = ['--upstream', 'docker', '--name', name, '--namespace', namespace, '--keys', keys];
  const images = () =>
    docker('images', '--format', '{{.Repository}}:{{.Tag}}', '--filter', `reference=${namespace}/*`);
  const clean = async () => {
    const left = await containersOf(name, { all: true, waiting: true });
    if (left.length > 0) await docker('rm', '--force', '--volumes', ...left.map(({ id }) => id));
    await run('docker', ['network', 'rm', `slipway-${name}`]);
    const all = (await images()).split('\n').filter(Boolean);
    const runtimeLast = all.toSorted(
      (a, b) => Number(a.includes('/runtime:')) - Number(b.includes('/runtime:')),
    );
    await docker('rmi', '--force', ...runtimeLast);
    await rm(folder, { recursive: true, force: true });
  };
  return {
    name,
    namespace,
    models,
    key,
    args: [...args, '--port', '0', '--offline', '--rate', '100000/60s'],
    images,
    clean,
  };
}

type Made = Awaited<ReturnType<typeof makeImages>>;

const request = ({ cases }: ZooModel) => cases.find((one) => !one.expect_error)!.request;

describeWithDocker('containers of a gateway', () => {
  let made: Made;
  let gateway: TestGateway;
  let [paused, plain]: ZooModel[] = [];
  /** What the caller of a model gets whose container is paused under the call. */
  let held: Promise<Response>;
  const started = new Date().toISOString();
  const containerOf = async (model: ZooModel) =>
    (await containersOf(made.name)).find((one) => one.model === model.about.id)!.id;
  const inspect = (id: string, format: string) => docker('inspect', '--format', format, id);

  beforeAll(async () => {
    made = await makeImages([
      ['text-classification', 'distilbert'],
      ['fill-mask', 'bert'],
    ]);
    [paused, plain] = made.models;
    // A start that broke off, long ago.
    const label = ['--label', `io.slipway.gateway=${made.name}`];
    await docker(
      'create',
      ...label,
      `${made.namespace}/${paused!.about.id.toLowerCase().replace('/', '_')}:latest`,
    );
    gateway = await startGateway(made.key, made.args);
  }, 300_000);
  afterAll(async () => {
    await gateway?.end('SIGKILL');
    await made.clean();
  });

  test('a container that was made and never started is taken away', async () => {
    expect(await containersOf(made.name, { all: true })).toEqual([]);
  });

  test('one is paused under a call, to be looked at in the end', async () => {
    expect((await gateway.ask(paused!.about.id, request(paused!))).status).toBe(200);
    await docker('pause', await containerOf(paused!));
    held = gateway.ask(paused!.about.id, request(paused!));
    // It goes on while other tests run.
    held.catch(() => undefined);
  });

  test('their file systems are read-only, and their secrets lie in memory only', async () => {
    expect((await gateway.ask(plain!.about.id, request(plain!))).status).toBe(200);
    const id = await containerOf(plain!);
    expect(await inspect(id, '{{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapAdd}}')).toBe(
      'true [CHOWN SETUID SETGID]',
    );
    const { code, stderr } = await run('docker', ['exec', id, 'touch', '/server/x']);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/Read-only file system/)]);
    const key = await docker('exec', id, 'cat', '/run/secrets/KEY');
    expect(key).toMatch(/^[0-9a-f]{32}$/);
    expect(await docker('exec', id, 'stat', '-f', '-c', '%T', '/run/secrets')).toBe('tmpfs');
    expect((await run('docker', ['exec', '--user', '1000', id, 'cat', '/run/secrets/KEY'])).code).toBe(1);
    expect(await docker('inspect', id)).not.toContain(key);
    const committed = `${made.namespace}/committed`;
    await docker('commit', id, committed);
    const save = spawn('sh', ['-c', `docker save ${committed} | grep -ac ${key}`]);
    expect((await textOf(save.stdout)).trim()).toBe('0');
  });

  test('they end themselves when they are told to', async () => {
    const id = await containerOf(plain!);
    await docker('stop', '--time', '20', id);
    const ends = [
      'events',
      '--since',
      started,
      '--until',
      new Date().toISOString(),
      '--filter',
      `container=${id}`,
    ];
    const exits = await docker(
      ...ends,
      '--filter',
      'event=die',
      '--format',
      '{{.Actor.Attributes.exitCode}}',
    );
    // 137 is what the engine's SIGKILL leaves.
    expect(exits).toBe('0');
    expect((await gateway.ask(plain!.about.id, request(plain!))).status).toBe(200);
  });

  test('the one that was paused is replaced; its caller, who has no byte of an answer yet, is answered by the next', async () => {
    const answer = await held;
    expect([answer.status, answer.headers.get('inference-cold-start')]).toEqual([200, 'true']);
    await answer.body?.cancel();
    expect((await gateway.ask(paused!.about.id, request(paused!))).status).toBe(200);
    expect(gateway.log()).toMatch(/it does not answer/);
  });
});

describeWithTwoEngines('an engine that is restarted under load', () => {
  let made: Made;
  let engine: SecondEngine;
  let gateway: TestGateway;

  beforeAll(async () => {
    made = await makeImages([['text-classification', 'distilbert']]);
    engine = await startSecondEngine();
    const images = (await made.images()).split('\n');
    const move = spawn('sh', ['-c', `docker save ${images.join(' ')} | docker --host ${engine.host} load`]);
    await textOf(move.stdout);
    gateway = await startGateway(made.key, made.args, (command, args) => engine.spawn(command, args));
  }, 300_000);
  afterAll(async () => {
    await gateway?.end('SIGTERM');
    await engine?.close();
    await made.clean();
  });

  test('calls fail while it is away and are answered after it, by the same gateway', async () => {
    const [model] = made.models;
    const url = `http://127.0.0.1:${gateway.port}/models/v2/${model!.about.id}`;
    const script = path.resolve('test/e2e/support/calls.mjs');
    const body = JSON.stringify(request(model!));
    const callers = engine.spawn(process.execPath, [script, url, made.key, body, '25']);
    const said = textOf(callers.stdout);
    // Under load, however long the first start takes.
    for (let tries = 0; tries < 300 && !/ status=200 /.test(gateway.log()); tries++) await delay(100);
    await delay(500);
    await engine.restart();
    const calls = (await said)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { status: number | string });
    const statuses = calls.map(({ status }) => status);
    expect(statuses[0]).toBe(200);
    // Whether a call was under way when its container ended is chance.
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(gateway.log().match(/ starts /g)!.length).toBeGreaterThan(1);
    expect(statuses.slice(-5)).toEqual([200, 200, 200, 200, 200]);
    expect(gateway.process.exitCode).toBeNull();
    // What the restart has left is swept up in time.
    const left = () =>
      engine.docker('ps', '--all', '--quiet', '--filter', `label=io.slipway.gateway=${made.name}`);
    for (let tries = 0; tries < 100 && (await left()).split('\n').length > 1; tries++) await delay(1000);
    expect((await left()).split('\n')).toHaveLength(1);
  }, 240_000);
});
