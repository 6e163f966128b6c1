import path from 'node:path';
import { describeWithDocker } from './support/engine.js';
import { readyInside, runInside } from './support/inside.js';
import { docker, run } from './support/process.js';
import { openWorkshop, type Workshop } from './support/workshop.js';

describeWithDocker('weights that are fetched beforehand', () => {
  let workshop: Workshop;
  let image: string;
  let volume: string;
  beforeAll(async () => {
    workshop = await openWorkshop();
    image = await workshop.build(workshop.hub.models.text.about.id);
    volume = `${workshop.namespace}-weights`;
    await docker('volume', 'create', volume);
  });
  afterAll(async () => {
    await workshop.close();
    await docker('volume', 'rm', volume);
  });

  /** Starts an image without a network on a mount and asks it. */
  async function expectAnswer(name: string, flags: string[]): Promise<void> {
    workshop.hub.requests.length = 0;
    const container = await workshop.start(name, ['--network', 'none', ...flags]);
    await readyInside(container.id);
    const { request } = workshop.hub.models.text.cases[0]!;
    expect(await runInside(container.id, request)).toMatchObject({ error: null, output: [{ label: 'joy' }] });
    expect(workshop.hub.requests).toEqual([]);
  }

  const initContainer = (...flags: string[]) =>
    run('docker', ['run', '--rm', '--volume', `${volume}:/server/model`, ...flags]);

  test('by an init container, without a KEY, into a volume that the server shares', async () => {
    const first = await initContainer(...workshop.hub.flags, image, 'fetch');
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(/download 100 %/);
    workshop.hub.requests.length = 0;
    const again = await initContainer('--network', 'none', image, 'fetch', '--verify');
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('verifies the files') });
    await expectAnswer(image, ['--volume', `${volume}:/server/model:ro`, '--user', '1234']);
  });

  test('an image with its weights inside has nothing to fetch', async () => {
    const baked = await workshop.build(workshop.hub.models.stream.about.id, '--bake');
    workshop.hub.requests.length = 0;
    const { code, stdout } = await run('docker', [
      'run',
      '--rm',
      '--network',
      'none',
      '--read-only',
      baked,
      'fetch',
    ]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('is complete') });
  });

  test('a sealed image verifies what it holds, and says so when it is not what was sealed', async () => {
    const sealed = await workshop.snapshot(workshop.hub.models.stream.about.id);
    const verify = ['run', '--rm', '--network', 'none', sealed, 'fetch'];
    expect(await run('docker', verify)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('verifies the files'),
    });
    const rot = 'printf x | dd of="$(find /server/model -name model.onnx)" bs=1 seek=99 conv=notrunc';
    const flags = ['--rm', '--network', 'none', '--user', '0', '--entrypoint', 'sh'];
    const spoiled = ['run', ...flags, sealed, '-c', `${rot} && node /server/main.mjs fetch`];
    expect(await run('docker', spoiled)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/its weights are not what was sealed/),
    });
  });

  test('without a hub: not 0, and why', async () => {
    const flags = ['--network', 'none', '--env', 'HF_HUB_OFFLINE=1'];
    const { code, stderr } = await run('docker', ['run', '--rm', ...flags, image, 'fetch']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^slipway: the weights are not complete .*put them into \/server\/model\//);
  });

  test('an argument that is none is refused with what there is', async () => {
    const { code, stderr } = await run('docker', ['run', '--rm', image, 'serve-me']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/unknown argument "serve-me"; there is: nothing .*"fetch"/);
  });

  test('by builder fetch, into a folder that is carried to a machine without a network', async () => {
    const stick = path.join(workshop.folder, 'stick');
    const { id } = workshop.hub.models.text.about;
    const { code, stdout, stderr } = await workshop.builder(['fetch', id, '--to', stick, '--json']);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const { commit } = JSON.parse(stdout) as { commit: string };
    const mount = ['--volume', `${stick}:/server/model:ro`];
    await expectAnswer(image, mount);
    // The shared runtime image has no model of its own: the description beside the files says what to serve.
    const runtime = await docker(
      'images',
      '--format',
      '{{.Repository}}:{{.Tag}}',
      `${workshop.namespace}/runtime`,
    );
    await expectAnswer(runtime, [...mount, '--env', `MODEL_SPEC=/server/model/${id}/${commit}.json`]);
  });
});
