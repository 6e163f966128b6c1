import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { convertToGguf } from '../fakes/gguf/convert.js';
import { difference } from '../parity/difference.js';
import { AARCH64, inspectLayers, loadEmptyBase } from './support/arm64.js';
import { ARM64_BASE, describeWithArm64, describeWithDocker } from './support/engine.js';
import { docker } from './support/process.js';
import { openWorkshop, type Workshop } from './support/workshop.js';

interface Built {
  images: { image: string; references: string[]; platform: string; runtime: string }[];
}

describeWithDocker('images for two platforms from one machine', () => {
  let workshop: Workshop;
  let base: string;
  beforeAll(async () => {
    workshop = await openWorkshop();
    base = `${workshop.namespace}/arm64-base:test`;
    await loadEmptyBase(base);
  });
  afterAll(() => workshop.close());

  const flags = () => ['--platform', 'linux/amd64,linux/arm64', '--base-image', `linux/arm64=${base}`];

  test.each(['text', 'image'] as const)(
    'every native file of the arm64 image (%s) is for arm64, and nothing ran to make it',
    async (kind) => {
      const { id } = workshop.hub.models[kind].about;
      const { code, stdout, stderr } = await workshop.builder(['build', id, '--bake', '--json', ...flags()]);
      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
      const { images } = JSON.parse(stdout) as Built;
      expect(images.map(({ platform }) => platform)).toEqual(['linux/amd64', 'linux/arm64']);
      expect(images[0]!.image).toMatch(/:latest$/);
      expect(images[1]!.references).toEqual(images[0]!.references.map((name) => `${name}-arm64`));
      expect(stderr).toContain('docker manifest create');

      const { architecture, os, machines } = await inspectLayers(images[1]!.image, 1);
      expect({ architecture, os }).toEqual({ architecture: 'arm64', os: 'linux' });
      expect([...machines].filter(([, machine]) => machine !== AARCH64)).toEqual([]);
      const names = [...machines.keys()].join('\n');
      expect(names).toMatch(/onnxruntime-node\/bin\/napi-v6\/linux\/arm64\/onnxruntime_binding\.node/);
      if (kind === 'image') {
        expect(names).toMatch(/@img\/sharp-linux-arm64\/lib\/sharp-linux-arm64\S*\.node/);
        expect(names).toMatch(/@img\/sharp-libvips-linux-arm64\/lib\/libvips-cpp\.so/);
      }
      expect(await docker('inspect', '--format', '{{.Architecture}}', images[0]!.image)).toBe('amd64');
    },
  );

  test('a sealed arm64 image: its files are proven here, its golden answer is this machine’s', async () => {
    const { id } = workshop.hub.models.text.about;
    const arm64 = ['--platform', 'linux/arm64', '--base-image', `linux/arm64=${base}`, '--json'];
    const sealed = await workshop.builder(['snapshot', id, ...arm64]);
    expect({ code: sealed.code, stderr: sealed.code === 0 ? '' : sealed.stderr }).toEqual({
      code: 0,
      stderr: '',
    });
    expect(sealed.stderr).toMatch(
      /linux\/arm64 does not run here: .* "builder verify" on a machine of its kind/,
    );
    const { image, ran } = JSON.parse(sealed.stdout) as { image: string; ran: boolean };
    expect(ran).toBe(false);
    const { code, stdout } = await workshop.builder(['verify', image, '--no-run', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      platform: 'linux/arm64',
      passed: true,
      recordedOn: { platform: 'linux/amd64' },
    });
    const names = await docker('images', '--format', '{{.Tag}}', image.slice(0, image.lastIndexOf(':')));
    expect(names).not.toMatch(/sealing/);
  });

  test('a base for another platform is refused with what to run, and stays where it is', async () => {
    const { id } = workshop.hub.models.text.about;
    const before = await docker('inspect', '--format', '{{.Id}}', 'node:24-bookworm-slim');
    const { code, stderr } = await workshop.builder(['build', id, '--platform', 'linux/arm64']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/is for linux\/amd64, not linux\/arm64; .*docker pull --platform linux\/arm64/);
    expect(await docker('inspect', '--format', '{{.Id}}', 'node:24-bookworm-slim')).toBe(before);
  });
});

/** Emulated programs see this machine's /proc/cpuinfo, over which ONNX Runtime's look at the processor stumbles. */
const CPUINFO = path.join(import.meta.dirname, 'support/arm-cpuinfo.txt');
const emulated = process.arch === 'arm64' ? [] : ['--volume', `${CPUINFO}:/proc/cpuinfo:ro`];
const READY_MS = 150_000;
const CHAT = 'test/fixtures/zoo-weights/chat/qwen2-f16-2shards';

describeWithArm64('an arm64 image that runs', () => {
  let workshop: Workshop;
  beforeAll(async () => void (workshop = await openWorkshop()));
  afterAll(() => workshop.close());

  test('answers as the Python library does, images decoded and all', async () => {
    const { about, cases } = workshop.hub.models.image;
    const platform = ['--platform', 'linux/arm64', '--base-image', `linux/arm64=${ARM64_BASE}`];
    const image = await workshop.build(about.id, '--bake', ...platform);
    const one = ['--env', 'WORKERS=1', '--env', 'THREADS=1', '--env', 'DEVICE=cpu'];
    const container = await workshop.start(image, ['--platform', 'linux/arm64', ...emulated, ...one]);
    await container.ready(READY_MS);
    const { request, expect: expected, compare } = cases.find((each) => !each.expect_error)!;
    const { status, envelope } = await container.run(request);
    expect({ status, error: envelope.error }).toEqual({ status: 200, error: null });
    expect(await difference(envelope.output, expected, compare)).toBeNull();
  }, 240_000);

  test('answers by llama.cpp over a file of GGUF', async () => {
    const from = path.join(workshop.folder, 'gguf-arm64');
    await mkdir(from);
    await writeFile(path.join(from, 'tiny-F32.gguf'), convertToGguf(path.join(CHAT, 'repo'), 'F32'));
    const platform = ['--platform', 'linux/arm64', '--base-image', `linux/arm64=${ARM64_BASE}`];
    const flags = ['--engine', 'llama', '--from', from, '--bake'];
    const image = await workshop.build('org/tiny-arm64-GGUF', ...flags, ...platform);
    const one = ['--env', 'THREADS=1', '--env', 'DEVICE=cpu'];
    const container = await workshop.start(image, ['--platform', 'linux/arm64', ...emulated, ...one]);
    await container.ready(READY_MS);
    const [first] = JSON.parse(await readFile(path.join(CHAT, 'cases.json'), 'utf8')) as {
      request: object;
      expect: object;
    }[];
    expect(await container.run(first!.request)).toEqual({
      status: 200,
      envelope: { error: null, output: first!.expect },
    });
  }, 240_000);
});
