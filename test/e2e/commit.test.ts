import { setTimeout as delay } from 'node:timers/promises';
import path from 'node:path';
import { writeFile } from 'node:fs/promises';
import type { TestContainer } from './support/container.js';
import { describeWithDocker } from './support/engine.js';
import { readyInside, runInside } from './support/inside.js';
import { docker } from './support/process.js';
import { openWorkshop, type Workshop } from './support/workshop.js';

/** The plain recipe: run, stop, commit, run without a network, save, load, with the docker CLI alone. */
describeWithDocker('a container that is committed', () => {
  let workshop: Workshop;
  let image: string;
  let first: TestContainer;
  let request: unknown;
  let answer: unknown;
  const committed = () => `${workshop.namespace}/committed`;

  beforeAll(async () => {
    workshop = await openWorkshop();
    const { text } = workshop.hub.models;
    image = await workshop.build(text.about.id);
    request = text.cases[0]!.request;
    first = await workshop.start(image, [...workshop.hub.flags, '--env', 'HF_TOKEN=hf_given']);
    await first.ready();
    ({ envelope: answer } = await first.run(request));
  });
  afterAll(() => workshop.close());

  async function expectSameAnswer(container: TestContainer): Promise<void> {
    await readyInside(container.id);
    expect(await runInside(container.id, request)).toEqual(answer);
    const log = await container.log();
    expect(log).toMatch(/the weights are complete, no download/);
    // Time stamps outlive the layer: nothing is hashed again.
    expect(log).not.toMatch(/verifies the files/);
    expect(workshop.hub.requests).toEqual([]);
  }

  test('the log warns once of what a commit would keep, and names the other ways', async () => {
    expect(workshop.hub.downloads()).toBeGreaterThan(0);
    const lines = (await first.log()).split('\n').filter((line) => line.includes('docker commit'));
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      level: 'warn',
      msg: expect.stringMatching(/KEY and HF_TOKEN .*KEY_FILE and HF_TOKEN_FILE .*builder snapshot/),
    });
    expect(lines[0]).not.toContain('hf_given');
  });

  test('starts from the commit without any network, and answers the same', async () => {
    await first.stop();
    await docker('commit', first.id, committed());
    workshop.hub.requests.length = 0;
    await expectSameAnswer(await workshop.start(committed(), ['--network', 'none', '--env', 'HF_TOKEN=']));
  });

  test('starts on a network that leads nowhere, and is asked by its address', async () => {
    const network = `${workshop.namespace}-nowhere`;
    await docker('network', 'create', '--internal', network);
    const container = await workshop.start(committed(), ['--network', network]);
    try {
      await container.ready(20_000);
      expect((await container.run(request)).envelope).toEqual(answer);
      await expectSameAnswer(container);
    } finally {
      await container.stop();
      await docker('network', 'disconnect', '--force', network, container.id);
      await docker('network', 'rm', network);
    }
  });

  test('is saved, removed, loaded, and answers the same', async () => {
    const tarball = path.join(workshop.folder, 'committed.tar');
    await docker('save', '--output', tarball, committed());
    const users = await docker('ps', '--all', '--quiet', '--filter', `ancestor=${committed()}`);
    await docker('rm', '--force', ...users.split('\n').filter(Boolean));
    await docker('rmi', committed());
    await docker('load', '--input', tarball);
    await expectSameAnswer(await workshop.start(committed(), ['--network', 'none']));
  });

  test('committed while it downloads: what starts from it goes on from there', async () => {
    const { about } = workshop.hub.models.image;
    const graph = 'model.onnx';
    const half = await workshop.build(about.id);
    workshop.hub.fault({ path: graph, stallAfter: 50_000 });
    const loading = await workshop.start(half, workshop.hub.flags);
    const find = `find /server/model -name '${graph}.part' -size +40k`;
    for (let tries = 0; (await docker('exec', loading.id, 'sh', '-c', find)) === ''; tries++) {
      if (tries > 100) throw new Error(`no part of the graph:\n${await loading.log()}`);
      await delay(100);
    }
    await docker('commit', loading.id, `${workshop.namespace}/half`);
    await docker('kill', loading.id);
    workshop.hub.requests.length = 0;
    const next = await workshop.start(`${workshop.namespace}/half`, workshop.hub.flags);
    await next.ready();
    const asked = workshop.hub.requests.filter((one) => one.path.includes(graph));
    expect(asked.map(({ headers }) => headers.range)).toEqual([expect.stringMatching(/^bytes=\d{5,}-$/)]);
  });

  test('there is no warning where no secret stands in the environment, or a volume takes the weights', async () => {
    const keyFile = path.join(workshop.folder, 'key');
    await writeFile(keyFile, 'a key\n', { mode: 0o644 });
    const byFile = ['--env', 'KEY=', '--env', 'KEY_FILE=/run/key', '--volume', `${keyFile}:/run/key:ro`];
    const mounted = ['--volume', `${workshop.folder}/mounted:/server/model`];
    for (const flags of [byFile, mounted]) {
      workshop.hub.requests.length = 0;
      const container = await workshop.start(image, [...workshop.hub.flags, ...flags]);
      await container.ready();
      expect(workshop.hub.downloads()).toBeGreaterThan(0);
      expect(await container.log()).not.toContain('docker commit');
    }
  });
});
