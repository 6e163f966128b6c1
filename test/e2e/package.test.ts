import path from 'node:path';
import { type InstalledPackage, installPackage } from '../fakes/installed.js';
import { describeWithDocker } from './support/engine.js';
import { builder, run } from './support/process.js';
import { openWorkshop, type Workshop } from './support/workshop.js';

describeWithDocker('builder build from the installed package', () => {
  let workshop: Workshop;
  let installed: InstalledPackage;
  beforeAll(async () => void ([workshop, installed] = await Promise.all([openWorkshop(), installPackage()])));
  afterAll(() => workshop.close());

  const flags = () => {
    const model = ['slipway/harbour-demo', '--from', path.join(installed.folder, 'demo/model')];
    return [...model, '--namespace', workshop.namespace, '--out', path.join(workshop.folder, 'images')];
  };

  test('the image is the one that the checkout makes, and answers', async () => {
    const { env, cwd } = installed;
    const ours = await builder(['build', ...flags(), '--dry-run', '--json']);
    const theirs = await run('builder', ['build', ...flags(), '--dry-run', '--json'], { env, cwd });
    const { runtime } = JSON.parse(ours.stdout) as { runtime: string };
    expect({ code: theirs.code, ...(JSON.parse(theirs.stdout) as object) }).toMatchObject({
      code: 0,
      runtime,
    });

    const { code, stdout, stderr } = await run('builder', ['build', ...flags(), '--bake'], { env, cwd });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const container = await workshop.start(stdout.trim());
    await container.ready();
    expect(await container.run({ text: 'The harbour', params: { max_new_tokens: 4 } })).toMatchObject({
      status: 200,
      envelope: { error: null, output: expect.stringMatching(/^The harbour \w+/) },
    });
  });
});
