import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import tar from 'tar-stream';
import { dockerodeDocker, dockerodeFleet } from '../../builder/docker/dockerode.js';
import { tarStream } from '../../builder/images/tar.js';
import { membersOf } from '../fakes/docker.js';
import { describeWithDocker } from './support/engine.js';
import { docker as run } from './support/process.js';

const BASE = process.env.BASE_IMAGE ?? 'node:24-bookworm-slim';
const NAME = `slipway-e2e-docker-${process.pid}`;
/** By its exit code, since process.exit() drops what a pipe has not taken yet. */
const ECHO = 'process.exitCode = Number(process.env.CODE); process.stdin.pipe(process.stdout)';

describeWithDocker('the Docker adapter', () => {
  const docker = dockerodeDocker();
  const reference = `${NAME}:one`;
  beforeAll(async () => {
    const files = [
      { path: 'Dockerfile', content: `FROM ${BASE}\nCOPY data/ /data/\nENV A=1\nENTRYPOINT ["node"]` },
      { path: 'data/note.txt', content: 'hello' },
    ];
    await docker.buildImage(tarStream(files), { references: [reference] }, () => undefined);
  });
  afterAll(async () => {
    for (const tag of ['one', 'two']) await docker.removeImage(`${NAME}:${tag}`);
  });

  test('details name layers, environment and entry point; the history has the steps', async () => {
    const [base, image] = [await docker.inspectImage(BASE), await docker.inspectImage(reference)];
    expect(image).toMatchObject({ references: [reference], entrypoint: ['node'] });
    expect(image!.env).toContain('A=1');
    expect(image!.layers.slice(0, -1)).toEqual(base!.layers);
    expect(image!.layers.at(-1)).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect((await docker.imageHistory(reference))[0]!.createdBy).toContain('ENTRYPOINT');
    expect((await docker.listImages()).map(({ id }) => id)).toContain(image!.id);
  });

  test('a network that is there serves its own kind only', async () => {
    const fleet = dockerodeFleet();
    const wanted = { name: NAME, labels: {}, internal: false };
    try {
      await fleet.ensureNetwork(wanted);
      await fleet.ensureNetwork(wanted);
      await expect(fleet.ensureNetwork({ ...wanted, internal: true })).rejects.toThrow(
        `--offline forbids that: end the gateway that uses it, then "docker network rm ${NAME}"`,
      );
    } finally {
      await run('network', 'rm', NAME);
    }
  });

  test('what is saved, removed and loaded is the same image', async () => {
    const { id } = (await docker.inspectImage(reference))!;
    const saved = await buffer(await docker.saveImages([reference]));
    await docker.removeImage(reference);
    expect(await docker.inspectImage(reference)).toBeUndefined();
    await docker.removeImage(reference);
    expect(await docker.loadImages(Readable.from([saved]), () => undefined)).toEqual([reference]);
    expect((await docker.inspectImage(reference))!.id).toBe(id);
  });

  test('a tar that is no image is refused by the load, in the words of the engine', async () => {
    const pack = tar.pack();
    pack.entry({ name: 'manifest.json' }, '[{"Config":"x.json","RepoTags":null,"Layers":[]}]');
    pack.finalize();
    const load = docker.loadImages(pack as unknown as Readable, () => undefined);
    await expect(load).rejects.toMatchObject({ exit: 'failure', message: expect.stringMatching(/x\.json/) });
  });

  test('reads a folder of an image that never ran', async () => {
    const members = await docker.readImage({ reference, path: '/data' }, membersOf);
    expect(members!.get('data/note.txt')!.text).toBe('hello');
    expect(await docker.readImage({ reference, path: '/nothing' }, membersOf)).toBeUndefined();
  });

  test('an isolated container runs programs with input, output and status, and has no network', async () => {
    let output = '';
    const entrypoint = ['sh', '-c', 'echo started; exec sleep 60'];
    const onOutput = (text: string) => (output += text);
    const options = {
      image: reference,
      env: { KEY: 'any' },
      entrypoint,
      readOnly: true,
      memoryBytes: 2 ** 28,
    };
    const container = await docker.startIsolated({ ...options, onOutput });
    try {
      const stdin = 'ü'.repeat(300_000);
      const echoed = await container.exec(['node', '-e', ECHO], { stdin, env: { CODE: '7' } });
      expect(echoed).toMatchObject({ code: 7, stderr: '' });
      expect(echoed.stdout.length).toBe(Buffer.byteLength(stdin));
      expect(echoed.stdout.equals(Buffer.from(stdin))).toBe(true);
      const show = await container.exec([
        'sh',
        '-c',
        'echo $KEY; ls /sys/class/net; touch /x; touch /tmp/x && echo ok',
      ]);
      expect(show.stdout.toString()).toBe('any\nlo\nok\n');
      expect(show.stderr).toContain('Read-only');
      expect(output).toContain('started');
    } finally {
      await container.remove();
    }
    await container.remove();
    await expect(container.exec(['true'])).rejects.toMatchObject({ exit: 'failure' });
  });
});
