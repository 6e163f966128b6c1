import { readFileSync } from 'node:fs';
import { grownSizes } from '../../scripts/release/grown-sizes.mjs';
import { describeWithDocker } from './support/engine.js';
import { docker } from './support/process.js';
import { openWorkshop, type Workshop } from './support/workshop.js';

const BASE = 'node:24-bookworm-slim';

const sizeOf = async (image: string) =>
  Number(await docker('image', 'inspect', '--format', '{{.Size}}', image));

describeWithDocker('sizes of runtime images', () => {
  let workshop: Workshop;
  beforeAll(async () => {
    workshop = await openWorkshop();
  });
  afterAll(() => workshop.close());

  test.each([
    ['text', 'text-classification', 'distilbert'],
    ['vision', 'image-classification', 'vit-tiny'],
    ['media', 'automatic-speech-recognition', 'whisper-en'],
  ])('the one of %s is no more than 5 %% larger than docs/sizes.md says', async (profile, task, name) => {
    const from = ['--from', `test/fixtures/zoo/${task}/${name}/repo`, '--task', task];
    const { code, stdout, stderr } = await workshop.builder(['build', `zoo-open/${name}`, ...from, '--json']);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    const { runtime } = JSON.parse(stdout) as { runtime: string };
    const aboveBase = (await sizeOf(runtime)) - (await sizeOf(BASE));
    const platform = `linux/${await docker('image', 'inspect', '--format', '{{.Architecture}}', runtime)}`;
    expect(aboveBase).toBeGreaterThan(10e6);
    expect(grownSizes([{ profile, platform, aboveBase }], readFileSync('docs/sizes.md', 'utf8'))).toEqual([]);
  });
});
