import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { runCli } from '../../../../builder/cli.js';
import { readBuilderConfig } from '../../../../builder/config.js';
import { signatureFile, writeBundle } from '../../../../builder/sign/store.js';
import { readArchive } from '../../../../builder/archive/read.js';
import { diffIdOf } from '../../../../builder/archive/write.js';
import { type FakeImage, file, savedLayout, sourceOf, tarOf } from '../../../fakes/archive.js';
import { type FakeDocker, fakeDocker } from '../../../fakes/docker.js';
import { sink } from '../support.js';

const OLD = 'slipway/m:old';
const NEW = 'slipway/m:new';
const weights = randomBytes(300_000);

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(path.join(tmpdir(), 'slipway-transfer-'))));
afterEach(() => rm(folder, { recursive: true, force: true }));
const at = (name: string) => path.join(folder, name);

/** The layer of the weights stands above that of the server, as in our images. */
async function imageOf(name: string, server: string): Promise<FakeImage> {
  const layers = [
    [file('etc/os', 'base')],
    [file('server/main.mjs', server)],
    [file('server/model/w', weights)],
  ];
  return savedLayout({ names: [name], layers: await Promise.all(layers.map(tarOf)) });
}

/** An engine that has images and, as a real one, has what was loaded. */
async function engineWith(...images: [string, FakeImage][]): Promise<FakeDocker> {
  const docker = fakeDocker();
  const add = async (name: string, { id, diffIds }: Pick<FakeImage, 'id' | 'diffIds'>, archive: Buffer) => {
    const details = { labels: {}, size: 3e5, created: 0, platform: 'linux/amd64' };
    const rest = { env: [], entrypoint: [], command: [], settings: {}, references: [name], layers: diffIds };
    docker.images.set(name, { id, ...details, ...rest });
    for (const reference of [name, id]) docker.archives.set(reference, archive);
  };
  for (const [name, image] of images) await add(name, image, await tarOf(image.entries));
  const { loadImages } = docker;
  docker.loadImages = async (tar, onLine) => {
    await loadImages(tar, onLine);
    const loaded = docker.loads.at(-1)!;
    const { images } = await readArchive(sourceOf(loaded), async () => undefined);
    for (const { names, id, layers } of images)
      await add(names[0] ?? id, { id, diffIds: layers.map(({ diffId }) => diffId) }, loaded);
    return images.flatMap(({ names }) => names);
  };
  return docker;
}

async function cli(docker: FakeDocker, ...args: string[]) {
  const [out, err] = [sink(), sink()];
  const deps = {
    config: readBuilderConfig({ XDG_DATA_HOME: at('data') }),
    docker,
    packageRoot: '.',
    version: '1',
    stdout: out.stream,
    stderr: err.stream,
  };
  return { code: await runCli(args, deps), stdout: out.text(), stderr: err.text() };
}

describe('a full export', () => {
  test('is what the engine saves, compressed, with a checksum; the same image gives the same bytes', async () => {
    const image = await imageOf(OLD, 'v1');
    const docker = await engineWith([OLD, image]);
    const { code, stdout } = await cli(docker, 'export', OLD, '-o', at('a.tar.gz'), '--json');
    expect(code).toBe(0);
    const bytes = await readFile(at('a.tar.gz'));
    expect(gunzipSync(bytes)).toEqual(await tarOf(image.entries));
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(await readFile(at('a.tar.gz.sha256'), 'utf8')).toBe(`${sha256}  a.tar.gz\n`);
    expect(JSON.parse(stdout)).toEqual({
      file: at('a.tar.gz'),
      bytes: bytes.length,
      sha256,
      image: OLD,
      id: image.id,
      signature: null,
    });
    await cli(docker, 'export', OLD, '-o', at('b.tar.gz'));
    expect(await readFile(at('b.tar.gz'))).toEqual(bytes);
  });

  test('is plain where the name says so', async () => {
    const image = await imageOf(OLD, 'v1');
    await cli(await engineWith([OLD, image]), 'export', OLD, '-o', at('a.tar'));
    expect(await readFile(at('a.tar'))).toEqual(await tarOf(image.entries));
  });

  test('puts the signature of the image beside the file, and takes that of another one away', async () => {
    const image = await imageOf(OLD, 'v1');
    const docker = await engineWith([OLD, image], [NEW, await imageOf(NEW, 'v2')]);
    await writeBundle(signatureFile(at('data/slipway'), image.id), 'signed');
    const { stdout } = await cli(docker, 'export', OLD, '-o', at('a.tar'), '--json');
    expect(JSON.parse(stdout)).toMatchObject({ signature: at('a.tar.sigstore.json') });
    expect(await readFile(at('a.tar.sigstore.json'), 'utf8')).toBe('signed');
    const delta = await cli(docker, 'export', OLD, '-o', at('d.tar'), '--base', NEW);
    expect(delta.stdout).toMatch(/, signed\)$/m);
    expect(await readFile(at('d.tar.sigstore.json'), 'utf8')).toBe('signed');
    const again = await cli(docker, 'export', NEW, '-o', at('a.tar'), '--force', '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({ signature: null });
    expect(await readdir(folder)).not.toContain('a.tar.sigstore.json');
  });

  test('replaces a file only with --force', async () => {
    const docker = await engineWith([OLD, await imageOf(OLD, 'v1')]);
    await writeFile(at('a.tar'), 'precious');
    expect(await cli(docker, 'export', OLD, '-o', at('a.tar'))).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--force replaces it/),
    });
    expect(await readFile(at('a.tar'), 'utf8')).toBe('precious');
    expect(await cli(docker, 'export', OLD, '-o', at('a.tar'), '--force')).toMatchObject({ code: 0 });
    expect(await readFile(at('a.tar'), 'utf8')).not.toBe('precious');
  });

  test('of an engine that gives wrong bytes fails and leaves nothing', async () => {
    const docker = await engineWith([OLD, await imageOf(OLD, 'v1')]);
    const archive = docker.archives.get(OLD)!;
    for (const wrong of [archive.subarray(0, 200_000), flipped(archive, 100_000)]) {
      docker.archives.set(OLD, wrong);
      expect(await cli(docker, 'export', OLD, '-o', at('a.tar.gz'))).toMatchObject({ code: 1, stdout: '' });
      expect(await readdir(folder)).toEqual([]);
    }
  });

  test('takes away what a killed export has left, and nothing of one that lives', async () => {
    const docker = await engineWith([OLD, await imageOf(OLD, 'v1')]);
    for (const name of ['a.tar.999999999.part', `a.tar.${process.ppid}.part`, 'b.tar.999999999.part'])
      await writeFile(at(name), 'left');
    await cli(docker, 'export', OLD, '-o', at('a.tar'));
    expect((await readdir(folder)).sort()).toEqual(
      ['a.tar', `a.tar.${process.ppid}.part`, 'a.tar.sha256', 'b.tar.999999999.part'].sort(),
    );
  });

  test.each([
    ['an image that is not there', ['nothing', '-o', 'x.tar'], /no image nothing/],
    ['a folder that is not there', [OLD, '-o', '/nonexistent/x.tar'], /can't write to \/nonexistent/],
    [
      'a base that is neither',
      [OLD, '-o', 'x.tar', '--base', 'nothing'],
      /neither an image of this engine nor a file/,
    ],
    ['a base file that is not there', [OLD, '-o', 'x.tar', '--base', 'no.tar.gz'], /no file no.tar.gz/],
  ])('%s: exit 1 and a sentence', async (_, args, message) => {
    const docker = await engineWith([OLD, await imageOf(OLD, 'v1')]);
    expect(await cli(docker, 'export', ...args)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(message),
    });
  });
});

function flipped(bytes: Buffer, where: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[where]! ^= 1;
  return copy;
}

describe('a delta', () => {
  let [older, newer]: FakeImage[] = [];
  let source: FakeDocker;
  beforeEach(async () => {
    [older, newer] = [await imageOf(OLD, 'v1'), await imageOf(NEW, 'v2')];
    source = await engineWith([OLD, older], [NEW, newer]);
    await cli(source, 'export', NEW, '--base', OLD, '-o', at('d.tar.gz'));
  });

  test('carries the changed layer only, although the weights stand above it', async () => {
    const bytes = await readFile(at('d.tar.gz'));
    expect(bytes.length).toBeLessThan(10_000);
    const archive = await readArchive(sourceOf(bytes), ({ content }) => diffIdOf(content));
    expect([...archive.layers.values()]).toEqual([newer!.diffIds[1]]);
    expect(JSON.parse(String(archive.delta))).toMatchObject({
      version: 1,
      image: { id: newer!.id, names: [NEW] },
      base: { id: older!.id, name: OLD },
      needs: [newer!.diffIds[0], newer!.diffIds[2]],
      layers: [{ diffId: newer!.diffIds[1], member: [...archive.layers.keys()][0] }],
    });
  });

  test('is the same against a file of the base', async () => {
    await cli(source, 'export', OLD, '-o', at('base.tar.gz'));
    await cli(source, 'export', NEW, '--base', at('base.tar.gz'), '-o', at('e.tar.gz'));
    expect(await readFile(at('e.tar.gz'))).toEqual(await readFile(at('d.tar.gz')));
  });

  test('becomes the whole image where the base is', async () => {
    const far = await engineWith([OLD, older!]);
    expect(await cli(far, 'load', at('d.tar.gz'))).toMatchObject({ code: 0, stdout: `${NEW}\n` });
    const loaded = await readArchive(sourceOf(far.loads[0]!), ({ content }) => diffIdOf(content));
    expect(loaded.images).toMatchObject([{ id: newer!.id, names: [NEW] }]);
    expect(loaded.images[0]!.layers.map(({ member }) => loaded.layers.get(member))).toEqual(newer!.diffIds);
  });

  test('takes its layers from whatever images have them', async () => {
    const parts = [[[file('x', 'x')], [file('server/model/w', weights)]], [[file('etc/os', 'base')]]];
    const images = await Promise.all(
      parts.map(async (layers) => savedLayout({ layers: await Promise.all(layers.map(tarOf)) })),
    );
    const far = await engineWith(['other:1', images[0]!], ['other:2', images[1]!]);
    expect(await cli(far, 'load', at('d.tar.gz'))).toMatchObject({ code: 0 });
  });

  test('without the base: says which image to load first, and loads nothing', async () => {
    const far = await engineWith();
    const { code, stderr } = await cli(far, 'load', at('d.tar.gz'));
    expect(code).toBe(1);
    expect(stderr).toContain(`load the base ${OLD} (${older!.id.slice(0, 19)}) first`);
    expect(far.loads).toEqual([]);
  });

  test('a base that gives wrong bytes: nothing is made of them', async () => {
    const far = await engineWith([OLD, older!]);
    far.archives.set(older!.id, flipped(far.archives.get(older!.id)!, 100_000));
    expect(await cli(far, 'load', at('d.tar.gz'))).toMatchObject({ code: 1, stdout: '' });
    expect(far.images.has(NEW)).toBe(false);
  });

  test('an engine that ends with another image fails', async () => {
    const far = await engineWith([OLD, older!]);
    const { loadImages } = far;
    far.loadImages = async (tar, onLine) => {
      const names = await loadImages(tar, onLine);
      far.images.set(NEW, far.images.get(OLD)!);
      far.archives.set(NEW, far.archives.get(OLD)!);
      return names;
    };
    expect(await cli(far, 'load', at('d.tar.gz'))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/the engine has another image/),
    });
  });
});

describe('before anything is loaded', () => {
  let far: FakeDocker;
  let bytes: Buffer;
  beforeEach(async () => {
    const [older, newer] = [await imageOf(OLD, 'v1'), await imageOf(NEW, 'v2')];
    const source = await engineWith([OLD, older], [NEW, newer]);
    await cli(source, 'export', NEW, '--base', OLD, '-o', at('d.tar.gz'));
    await cli(source, 'export', OLD, '-o', at('full.tar.gz'));
    far = await engineWith([OLD, older]);
    bytes = await readFile(at('d.tar.gz'));
  });
  afterEach(() => expect(far.loads).toEqual([]));

  test.each([
    ['a flipped byte', (whole: Buffer) => flipped(whole, whole.length >> 1)],
    ['a missing end', (whole: Buffer) => whole.subarray(0, -20)],
    ['something more', (whole: Buffer) => Buffer.concat([whole, Buffer.from('x')])],
  ])('%s is told by the checksum', async (_, change) => {
    await writeFile(at('d.tar.gz'), change(bytes));
    expect(await cli(far, 'load', at('d.tar.gz'))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is not what was exported.*copy it again/),
    });
  });

  test('without a checksum: refused, unless it is to be so', async () => {
    await rm(at('d.tar.gz.sha256'));
    const { code, stderr } = await cli(far, 'load', at('d.tar.gz'));
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringMatching(/--no-checksum/) });
    for (let length = 100; length < bytes.length - 8; length += Math.ceil(bytes.length / 20)) {
      await writeFile(at('d.tar.gz'), bytes.subarray(0, length));
      expect(await cli(far, 'load', at('d.tar.gz'), '--no-checksum')).toMatchObject({ code: 1, stdout: '' });
    }
  });

  test('wrong bytes that no checksum tells are told by the layers', async () => {
    const whole = gunzipSync(await readFile(at('full.tar.gz')));
    await writeFile(at('full.tar.gz'), flipped(whole, 100_000));
    expect(await cli(far, 'load', at('full.tar.gz'), '--no-checksum')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/layer that is not what it should be/),
    });
  });

  test('a file that is none', async () => {
    expect(await cli(far, 'load', at('none.tar.gz'), '--no-checksum')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/can't be read \(ENOENT\)/),
    });
  });
});
