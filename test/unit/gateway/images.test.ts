import type { Device } from '../../../runtime/core/spec.js';
import { setTimeout as delay } from 'node:timers/promises';
import { BuilderError } from '../../../builder/exit.js';
import type { ImageSummary } from '../../../builder/docker/docker.js';
import { fixedCatalog, measuredCatalog, mergedCatalog } from '../../../gateway/catalog/entries.js';
import { imageCatalog } from '../../../gateway/catalog/images.js';
import { entry } from '../../fakes/launcher.js';

const MODEL = 'org/model';

function image(
  id: string,
  labels: Record<string, string> = {},
  references = [`slipway/m:${id}`],
): ImageSummary {
  const own = {
    model: MODEL,
    task: 'chat',
    platform: 'linux/amd64',
    device: 'cpu',
    baked: 'true',
    ...labels,
  };
  const named = Object.entries(own).map(([name, value]) => [`io.slipway.${name}`, value]);
  return { id, references, size: 1, created: 0, labels: Object.fromEntries(named) as Record<string, string> };
}

const machine = { platform: 'linux/amd64', devices: ['cpu'] as readonly Device[], everyMs: 5, log: () => {} };

async function found(images: ImageSummary[], more: { devices?: readonly Device[]; namespace?: string } = {}) {
  const catalog = await imageCatalog({ ...machine, ...more, listImages: async () => images });
  catalog.close();
  return catalog.list();
}

const chosen = async (images: ImageSummary[], more = {}) => (await found(images, more))[0]?.image?.id;

test('an entry says what the labels say, with some room', async () => {
  const labels = { memory: '500000000', parameters: '33828', figures: 'measured' };
  expect(await found([image('one', labels)])).toEqual([
    {
      ...{ modelId: MODEL, task: 'chat', params: 0.000033828, ramRequired: 0.525, figures: 'measured' },
      ...{
        addresses: [],
        image: { id: 'one', reference: 'slipway/m:one', baked: true, device: 'cpu' as const },
      },
    },
  ]);
  expect(await found([image('one')])).toMatchObject([{ params: null, figures: 'assumed' }]);
});

test('of several images the one that needs least from outside is taken, and of equals the newest', async () => {
  expect(await chosen([image('newer'), image('older')])).toBe('newer');
  expect(await chosen([image('downloads', { baked: 'false' }), image('baked')])).toBe('baked');
  expect(await chosen([image('baked'), image('sealed', { sealed: 'true' })])).toBe('sealed');
  const vulkan = image('vulkan', { device: 'vulkan', baked: 'false' });
  expect(await chosen([vulkan, image('cpu')])).toBe('cpu');
  expect(await chosen([vulkan, image('cpu')], { devices: ['cpu', 'vulkan'] })).toBe('vulkan');
  const gpu = image('gpu', { device: 'cuda', baked: 'false' });
  expect(await chosen([gpu, image('cpu')])).toBe('cpu');
  expect(await chosen([gpu, image('cpu')], { devices: ['cpu', 'cuda', 'vulkan'] })).toBe('gpu');
});

test.each([
  ['of another platform', image('one', { platform: 'linux/arm64' })],
  ['without a name', image('one', {}, [])],
  ['that is being sealed', image('one', {}, ['slipway/m:sealing-1a2b'])],
  ['of a task that nobody knows', image('one', { task: 'cooking' })],
  ['whose id is none', image('one', { model: '../..' })],
])('an image %s is not served', async (_what, given) => {
  expect(await found([given])).toEqual([]);
});

test('a namespace leaves out the images of others', async () => {
  const images = [image('theirs', {}, ['theirs/m:1']), image('ours', {}, ['ours/m:1'])];
  expect(await chosen(images, { namespace: 'ours' })).toBe('ours');
  expect(await found(images, { namespace: 'our' })).toEqual([]);
});

test('models come and go with their images; an engine that does not answer leaves them, and is told of once', async () => {
  const lines: string[] = [];
  let images: ImageSummary[] | Error = [];
  const listImages = async () => {
    if (images instanceof Error) throw images;
    return images;
  };
  const catalog = await imageCatalog({ ...machine, listImages, log: (line) => lines.push(line) });
  const until = async (line: string) => {
    for (let tries = 0; tries < 200 && !lines.includes(line); tries++) await delay(5);
    expect(lines).toContain(line);
  };
  images = [image('one')];
  await until(`${MODEL} is there`);
  expect(catalog.find(MODEL)).toBeDefined();
  images = new BuilderError('docker', 'no engine');
  await until('no engine; the last catalogue stays');
  await delay(30);
  expect(catalog.find(MODEL)).toBeDefined();
  images = [];
  await until(`${MODEL} has gone`);
  expect(lines).toEqual([
    `${MODEL} is there`,
    'no engine; the last catalogue stays',
    'the Docker Engine answers again',
    `${MODEL} has gone`,
  ]);
  catalog.close();
});

test('what is measured counts where nobody knew, and nowhere else', () => {
  const unknown = { ...entry('m/a', 0.3), figures: 'assumed' as const };
  const catalog = measuredCatalog(fixedCatalog([unknown, entry('m/b', 2)]));
  catalog.setMeasured('m/a', 1.5);
  catalog.setMeasured('m/b', 1.5);
  expect(catalog.list().map(({ ramRequired, figures }) => [ramRequired, figures])).toEqual([
    [1.5, 'measured'],
    [2, 'given'],
  ]);
});

test('a file adds to what images say: its own figures win, theirs fill up', () => {
  const server = { id: 'one', reference: 'x/m:1', baked: true, device: 'cpu' as const };
  const images = fixedCatalog([
    { ...entry('m/a', 0.7), params: 3, figures: 'measured', image: server },
    { ...entry('m/b', 0.7), params: 3, figures: 'measured', image: server },
  ]);
  const file = fixedCatalog([
    { ...entry('m/a', 2), params: 4 },
    { ...entry('m/b'), figures: 'assumed' },
  ]);
  expect(mergedCatalog(file, images).list()).toMatchObject([
    { modelId: 'm/a', params: 4, ramRequired: 2, figures: 'given', image: server },
    { modelId: 'm/b', params: 3, ramRequired: 0.7, figures: 'measured', image: server },
  ]);
});
