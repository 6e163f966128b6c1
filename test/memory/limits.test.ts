import sharp from 'sharp';
import { describeWithDocker } from '../e2e/support/engine.js';
import type { TestContainer } from '../e2e/support/container.js';
import { docker } from '../e2e/support/process.js';
import { openWorkshop, type Workshop } from '../e2e/support/workshop.js';
import type { ZooModel } from '../parity/zoo.js';

/** Nobody was killed: neither the container nor its model process. */
async function expectAlive(container: TestContainer): Promise<void> {
  const { output } = (await (await container.request('/status')).json()) as {
    output: { engine_restarts: number };
  };
  const { engine_restarts } = output;
  const state = await docker('inspect', '--format', '{{.State.OOMKilled}} {{.State.Running}}', container.id);
  expect({ engine_restarts, state }).toEqual({ engine_restarts: 0, state: 'false true' });
}

async function photo(width: number, height: number, turned: boolean): Promise<string> {
  const pixels = Buffer.alloc(width * height * 3);
  for (let i = 0; i < pixels.length; i++) pixels[i] = ((i % (3 * width)) / 24 + i / width / 48) & 255;
  const image = sharp(pixels, { raw: { width, height, channels: 3 } });
  return (await (turned ? image.withMetadata({ orientation: 6 }) : image).jpeg().toBuffer()).toString(
    'base64',
  );
}

describeWithDocker('a container that may use exactly the memory that was predicted', () => {
  let workshop: Workshop;
  beforeAll(async () => void (workshop = await openWorkshop()));
  afterAll(() => workshop.close());

  async function limited({ about }: ZooModel, more: { less?: number; flags?: string[] } = {}) {
    const image = await workshop.build(about.id);
    const label = '{{index .Config.Labels "io.slipway.memory"}}';
    const predicted = Number(await docker('inspect', '--format', label, image));
    const limit = predicted - (more.less ?? 0);
    const flags = [`--memory=${limit}`, `--memory-swap=${limit}`, '--cpus', '2', ...(more.flags ?? [])];
    const container = await workshop.start(image, [...workshop.hub.flags, ...flags]);
    await container.ready();
    return container;
  }

  test('answers photos of 12 megapixels, sixteen at a time, and the largest that its limits allow', async () => {
    const container = await limited(workshop.hub.models.image);
    const [usual, largest] = [await photo(4032, 3024, true), await photo(8160, 6120, false)];
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, i) => container.run({ base64: i === 8 ? largest : usual })),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    await expectAlive(container);
  });

  test('with less, an image that would not fit is refused by what it lacks, and others are answered', async () => {
    const container = await limited(workshop.hub.models.image, { less: 300e6 });
    const { status, envelope } = await container.run({ base64: await photo(8160, 6120, false) });
    expect(status).toBe(413);
    expect(envelope.error).toMatch(
      /8160 x 6120 pixels: to decode it takes up to \d+ MB, .* are left; send a smaller one/,
    );
    expect((await container.run({ base64: await photo(4032, 3024, true) })).status).toBe(200);
    await expectAlive(container);
  });

  test('answers the longest prompt that its model takes, and generations at a time', async () => {
    const container = await limited(workshop.hub.models.stream);
    const ask = (words: number) =>
      container.run({ text: 'a '.repeat(words), params: { max_new_tokens: 8, return_full_text: false } });
    const positions = 512;
    const longest = await longestOf(ask, positions);
    const answers = await Promise.all(Array.from({ length: 24 }, (_, i) => ask(i % 3 === 0 ? longest : 20)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect((await ask(longest)).status).toBe(200);
    await expectAlive(container);
  });
});

/** Most words that a prompt may have before it is too long for the model. */
async function longestOf(ask: (words: number) => Promise<{ status: number }>, most: number): Promise<number> {
  let [low, high] = [1, most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((await ask(middle)).status === 200) low = middle;
    else high = middle - 1;
  }
  return low;
}
