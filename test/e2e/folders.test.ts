import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { stampedBase } from './support/base.js';
import { describeWithDocker } from './support/engine.js';
import { docker, run } from './support/process.js';
import { openWorkshop, type Workshop } from './support/workshop.js';

interface Folders {
  image: string;
  runtime: string;
  folder: string;
  runtimeFolder: string;
}

describeWithDocker('build folders, on a machine with docker build alone', () => {
  let workshop: Workshop;
  beforeAll(async () => void (workshop = await openWorkshop()));
  afterAll(() => workshop.close());

  /** As a machine without a Docker Engine writes them. */
  async function write(id: string, ...flags: string[]): Promise<Folders> {
    const args = ['build', id, '--folders-only', '--json', ...flags];
    const { code, stdout, stderr } = await workshop.builder(args, { DOCKER_HOST: 'tcp://127.0.0.1:9' });
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as Folders;
  }

  /** The lines of a folder's README that build something, as they stand. */
  async function follow(folder: string): Promise<void> {
    const readme = await readFile(path.join(folder, 'README.md'), 'utf8');
    const lines = readme.split('\n').filter((line) => line.startsWith('docker build '));
    const script = `cd '${folder}'\nset -ex\n${lines.join('\n')}`;
    // Nothing of it comes from anywhere but the folders and the base.
    const { code, stderr } = await run('bash', [
      '-c',
      script.replaceAll('docker build', 'docker build --network none'),
    ]);
    if (code !== 0) throw new Error(stderr);
  }

  const layersOf = async (image: string) =>
    JSON.parse(await docker('inspect', '--format', '{{json .RootFS.Layers}}', image)) as string[];

  test('with weights: both images are built by the lines of the README, and answer without a network', async () => {
    const { id, cases } = { id: workshop.hub.models.text.about.id, cases: { text: 'My phone is dead.' } };
    // Else the second build could have the first one's layers.
    const base = ['--base-image', await stampedBase(workshop.namespace)];
    const written = await write(id, '--bake', ...base);
    await follow(written.folder);
    const container = await workshop.start(written.image, ['--env', 'HF_HUB_OFFLINE=1']);
    await container.ready();
    const answer = await container.request('/run', cases);
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { error: null, output: [expect.objectContaining({ label: expect.any(String) })] },
    ]);
    await container.remove();
    // Hand and builder make the same layers of them.
    const byHand = await layersOf(written.image);
    await docker('rmi', '--force', written.image, written.runtime);
    expect(await layersOf(await workshop.build(id, '--bake', ...base))).toEqual(byHand);
  });

  test('without weights: the image fetches them; the runtime’s own README builds the runtime', async () => {
    const written = await write(workshop.hub.models.image.about.id);
    await follow(written.runtimeFolder);
    await follow(written.folder);
    const container = await workshop.start(written.image, workshop.hub.flags);
    await container.ready();
    const { output } = (await (await container.request('/status')).json()) as {
      output: { example: object };
    };
    expect((await container.request('/run', output.example)).status).toBe(200);
  });

  test('a build by an engine leaves folders that build, too', async () => {
    const { id } = workshop.hub.models.stream.about;
    const { code, stdout, stderr } = await workshop.builder(['build', id, '--json']);
    if (code !== 0) throw new Error(stderr);
    const built = JSON.parse(stdout) as Folders;
    await docker('rmi', '--force', built.image);
    await follow(built.folder);
    expect(
      await docker('inspect', '--format', '{{index .Config.Labels "io.slipway.model"}}', built.image),
    ).toBe(id);
  });
});
