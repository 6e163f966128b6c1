import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  modelReadme,
  removeWeights,
  runtimeFolder,
  writeRuntimeFolder,
  writeWeights,
} from '../../../../builder/images/folders.js';
import { planModelImage } from '../../../../builder/images/model-plan.js';
import type { RuntimeImage } from '../../../../builder/images/runtime-image.js';
import { FIXED_MTIME } from '../../../../builder/images/tar.js';
import { IMAGE_OPTIONS, sampleSpec } from '../fixtures.js';

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(path.join(tmpdir(), 'slipway-folders-'))));
afterEach(() => rm(folder, { recursive: true, force: true }));
const at = (...names: string[]) => path.join(folder, ...names);

const runtime = (): RuntimeImage => ({
  ...{ namespace: 'slipway', profile: 'text', device: 'cpu', platform: 'linux/amd64', version: '1' },
  ...{ baseImage: 'node:24-bookworm-slim', name: 'slipway/runtime:text-cpu-1-abc' },
  dockerfile: 'FROM node:24-bookworm-slim\n',
  entries: [
    { path: 'server/server/main.mjs', content: 'code' },
    { path: 'server/server/model/', mode: 0o1777 },
    { path: 'packages/server/node_modules/a/LICENSE', content: { file: 'LICENSE', size: 11_358 } },
  ],
});

test('a runtime folder holds all that is in the image, with the modes and times of a streamed context', async () => {
  const before = process.umask(0o077);
  try {
    await writeRuntimeFolder(at('r'), runtime(), '.');
  } finally {
    process.umask(before);
  }
  const about = async (name: string) => {
    const { mode, mtimeMs } = await stat(at('r', name));
    return [mode & 0o7777, mtimeMs / 1000];
  };
  expect(await readFile(at('r/Dockerfile'), 'utf8')).toBe(runtime().dockerfile);
  expect(await readFile(at('r/packages/server/node_modules/a/LICENSE'))).toEqual(await readFile('LICENSE'));
  expect(await about('server/server/main.mjs')).toEqual([0o644, FIXED_MTIME]);
  expect(await about('server/server/model')).toEqual([0o1777, FIXED_MTIME]);
  for (const name of ['packages', 'packages/server/node_modules/a', 'server', 'server/server'])
    expect(await about(name)).toEqual([0o755, FIXED_MTIME]);
  expect(await readFile(at('r/README.md'), 'utf8')).toMatch(
    /^docker build --tag slipway\/runtime:text-cpu-1-abc \.$/m,
  );
});

test('one that is there is left as it is, and half of one is never there', async () => {
  await writeRuntimeFolder(at('r'), runtime(), '.');
  await writeFile(at('r/Dockerfile'), 'mine');
  await writeRuntimeFolder(at('r'), runtime(), '.');
  expect(await readFile(at('r/Dockerfile'), 'utf8')).toBe('mine');
  const lost = { ...runtime(), entries: [{ path: 'a/b', content: { file: at('nowhere'), size: 1 } }] };
  await expect(writeRuntimeFolder(at('q'), lost, '.')).rejects.toThrow(/ENOENT/);
  expect(await readdir(folder)).toEqual(['r']);
});

test('it says what the build of one for GPUs has to be given', async () => {
  await writeRuntimeFolder(at('r'), { ...runtime(), device: 'cuda' }, '.');
  expect(await readFile(at('r/README.md'), 'utf8')).toMatch(/--build-arg ORT_CUDA_SHA256=/);
});

test('weights lie where the Dockerfile takes them, and those of an earlier build go', async () => {
  await writeWeights(folder, [{ path: 'weights/server/model/old', content: 'x' }]);
  await removeWeights(folder);
  await writeWeights(folder, [
    { path: 'weights/server/model/', mode: 0o1777 },
    { path: 'weights/server/model/new', content: 'y' },
  ]);
  expect(await readdir(at('weights/server/model'))).toEqual(['new']);
  expect((await stat(at('weights/server/model'))).mode & 0o7777).toBe(0o1777);
});

describe('what a model’s folder says', () => {
  const readmeOf = (options: Partial<Parameters<typeof planModelImage>[2]>) =>
    modelReadme(planModelImage(sampleSpec(), runtime().name, { ...IMAGE_OPTIONS, ...options }), {
      ...{ runtime: runtime(), packageRoot: '.' },
    });

  test('is how both images are built, from where it lies', async () => {
    expect(runtimeFolder('/out', runtime())).toBe('/out/slipway/runtime/text-cpu-1-abc');
    const text = await readmeOf({ namespace: 'slipway' });
    expect(text).toMatch(
      /^docker build --tag slipway\/runtime:text-cpu-1-abc \.\.\/runtime\/text-cpu-1-abc$/m,
    );
    expect(text).toMatch(/^docker build --tag slipway\/[\w.-]+:latest \.$/m);
    expect(await readmeOf({ namespace: 'slipway', variant: 'arm64' })).toContain(
      ' ../../runtime/text-cpu-1-abc',
    );
  });

  test('is where the weights come from', async () => {
    expect(await readmeOf({ baked: true })).toMatch(/--bake --folders-only/);
    expect(await readmeOf({ baked: false })).toMatch(/fetches them at its first start/);
  });
});
