import { existsSync } from 'node:fs';
import path from 'node:path';
import { describeWithDocker } from './support/engine.js';
import { docker } from './support/process.js';
import { HOSTILE_LICENSE } from './support/zoo-hub.js';
import { openWorkshop, type Workshop } from './support/workshop.js';

interface Layer {
  size: number;
  by: string;
}

/** Layers of an image, newest first. */
async function layersOf(image: string): Promise<Layer[]> {
  const text = await docker(
    'history',
    '--no-trunc',
    '--human=false',
    '--format',
    '{{.Size}}\t{{.CreatedBy}}',
    image,
  );
  return text.split('\n').map((line) => {
    const [size, by] = line.split('\t');
    return { size: Number(size), by: by! };
  });
}

describeWithDocker('builder build', () => {
  let workshop: Workshop;
  beforeAll(async () => void (workshop = await openWorkshop()));
  afterAll(() => workshop.close());

  test('a dry run names the image and the runtime, and touches nothing', async () => {
    const { id } = workshop.hub.models.text.about;
    const { code, stdout } = await workshop.builder(['build', id, '--dry-run', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      image: { references: [`${workshop.namespace}/${id.replace('/', '_')}:latest`, expect.any(String)] },
      runtime: expect.stringContaining(`${workshop.namespace}/runtime:text-cpu-`),
      spec: { task: 'text-classification' },
    });
    expect(existsSync(path.join(workshop.folder, 'images'))).toBe(false);
    expect(await docker('images', '--quiet', '--filter', `reference=${workshop.namespace}/*`)).toBe('');
  });

  test('a model adds kilobytes to a shared runtime, and no step of its own runs', async () => {
    const { text, stream } = workshop.hub.models;
    const [first, second] = [await workshop.build(text.about.id), await workshop.build(stream.about.id)];
    const runtimes = await docker('images', '--quiet', '--filter', `reference=${workshop.namespace}/runtime`);
    expect(runtimes.split('\n')).toHaveLength(1);
    for (const image of [first, second]) {
      const own = (await layersOf(image)).slice(0, -(await layersOf(runtimes)).length);
      expect(own.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(64 * 1024);
      expect(own.filter(({ by }) => /\bRUN\b|\/bin\/sh -c (?!#\(nop\))/.test(by))).toEqual([]);
    }
  });

  test('labels say what is in the image', async () => {
    const { about } = workshop.hub.models.text;
    const image = await workshop.build(about.id);
    const labels = JSON.parse(
      await docker('inspect', '--format', '{{json .Config.Labels}}', image),
    ) as object;
    expect(labels).toMatchObject({
      'io.slipway.model': about.id,
      'io.slipway.commit': workshop.hub.commitOf(about.id),
      'io.slipway.task': 'text-classification',
      'io.slipway.license': 'apache-2.0',
      'io.slipway.baked': 'false',
    });
    const { stdout } = await workshop.builder(['build', about.id, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ image, built: false, runtimeBuilt: false });
    const list = await workshop.builder(['list', '--json']);
    expect(JSON.parse(list.stdout)).toContainEqual(
      expect.objectContaining({ image, model: about.id, baked: false }),
    );
  });

  test('a hostile licence is the value of a label, to the letter', async () => {
    const image = await workshop.build(workshop.hub.models.image.about.id);
    const labels = JSON.parse(
      await docker('inspect', '--format', '{{json .Config.Labels}}', image),
    ) as object;
    expect(labels).toMatchObject({ 'io.slipway.license': HOSTILE_LICENSE });
  });

  test('a second build of the same model comes to the same image and downloads nothing', async () => {
    const { about } = workshop.hub.models.image;
    const image = await workshop.build(about.id, '--bake');
    const id = () => docker('inspect', '--format', '{{.Id}}', image);
    const before = await id();
    workshop.hub.requests.length = 0;
    await workshop.builder(['plan', about.id]);
    const planning = workshop.hub.requests.length;
    await workshop.build(about.id, '--bake');
    expect(await id()).toBe(before);
    expect(workshop.hub.requests).toHaveLength(2 * planning);
  });

  test('a token is nowhere in the image or its build folder', async () => {
    const { about } = workshop.hub.models.text;
    const env = { HF_TOKEN: 'hf_e2eSecretToken' };
    const { stdout, stderr } = await workshop.builder(['build', about.id, '--bake'], env);
    expect(
      workshop.hub.requests.some(({ headers }) => headers.authorization?.includes('hf_e2eSecretToken')),
    ).toBe(true);
    const [inspect, history] = [
      await docker('inspect', stdout.trim()),
      await docker('history', '--no-trunc', stdout.trim()),
    ];
    expect(`${inspect}${history}${stdout}${stderr}`).not.toContain('hf_e2eSecretToken');
  });

  test.each([
    ['an unknown option', ['build', 'a/b', '--nonsense'], 2],
    ['no model id', ['build', 'not an id'], 2],
    ['a task that the model can not do', ['build', 'TEXT', '--task', 'image-classification'], 3],
    ['a task for models of several networks', ['build', 'TEXT', '--task', 'text-to-video'], 3],
    ['a model that is not there', ['build', 'nobody/nothing'], 5],
  ])('%s has its exit code and its sentence', async (_, args, code) => {
    const given = args.map((arg) => (arg === 'TEXT' ? workshop.hub.models.text.about.id : arg));
    const finished = await workshop.builder(given);
    expect(finished).toMatchObject({ code, stdout: '' });
    expect(finished.stderr).not.toMatch(/\n\s+at /);
  });

  test('without an engine: exit code 4, and what to do', async () => {
    const env = { DOCKER_HOST: 'unix:///nonexistent.sock' };
    const finished = await workshop.builder(['build', workshop.hub.models.text.about.id], env);
    expect(finished).toMatchObject({ code: 4, stdout: '', stderr: expect.stringContaining('start Docker') });
  });
});
