import { gzipSync } from 'node:zlib';
import * as zlib from 'node:zlib';
import { indexLayer } from '../../../../builder/archive/layer.js';
import { requireLayers, readArchive } from '../../../../builder/archive/read.js';
import {
  blobLayout,
  digest,
  type Entry,
  file,
  type ImageInput,
  savedLayout,
  sourceOf,
  tarOf,
} from '../../../fakes/archive.js';

const LAYERS = [
  [file('etc/base', 'base'), { name: 'server/', type: 'directory' as const }],
  [file('./server/main.mjs', 'x'.repeat(5000)), file('server/model.json', '{}')],
  [file('server/empty', '')],
];

async function input(): Promise<ImageInput> {
  const layers = await Promise.all(LAYERS.map(tarOf));
  return { names: ['a/b:latest'], labels: { 'io.slipway.model': 'a/b' }, env: ['A=1'], layers };
}

/** Reads every layer. */
async function read(bytes: Buffer) {
  const source = sourceOf(bytes);
  const archive = await readArchive(source, (layer) => indexLayer(layer, new Set(['/server/model.json'])));
  requireLayers(archive, source.name);
  return archive;
}

describe('an archive', () => {
  const LAYOUTS: [string, (input: ImageInput) => { id: string; diffIds: string[]; entries: Entry[] }][] = [
    ['as Engine 20.10 saves it', savedLayout],
    ['as Engine 25 and later save it', blobLayout],
    ['with compressed layers', (image) => blobLayout(image, true)],
  ];
  const PACKINGS: [string, (bytes: Buffer) => Buffer][] = [
    ['plain', (bytes) => bytes],
    ['gzip', (bytes) => gzipSync(bytes)],
    [
      'gzip in two parts',
      (bytes) => Buffer.concat([gzipSync(bytes.subarray(0, 700)), gzipSync(bytes.subarray(700))]),
    ],
  ];

  for (const [layout, make] of LAYOUTS) {
    test.each(PACKINGS)(`${layout}, %s`, async (_, pack) => {
      const image = make(await input());
      const archive = await read(pack(await tarOf(image.entries)));
      expect(archive.images).toEqual([
        {
          id: image.id,
          names: ['a/b:latest'],
          config: expect.any(Buffer),
          labels: { 'io.slipway.model': 'a/b' },
          env: ['A=1'],
          settings: { Labels: { 'io.slipway.model': 'a/b' }, Env: ['A=1'] },
          platform: 'linux/amd64',
          layers: image.diffIds.map((diffId) => ({ diffId, member: expect.any(String) })),
        },
      ]);
      const indexes = archive.images[0]!.layers.map(({ member }) => archive.layers.get(member)!);
      expect(indexes.map(({ diffId }) => diffId)).toEqual(image.diffIds);
      expect(indexes[1]!.entries).toEqual([
        { path: '/server/main.mjs', type: 'file', size: 5000, sha256: digest('x'.repeat(5000)).slice(7) },
        {
          path: '/server/model.json',
          type: 'file',
          size: 2,
          sha256: digest('{}').slice(7),
          content: Buffer.from('{}'),
        },
      ]);
    });
  }

  test('a layer that an image has twice is read once', async () => {
    const { layers } = await input();
    const image = savedLayout({ layers: [layers[0]!, layers[1]!, layers[0]!] });
    const archive = await read(await tarOf(image.entries));
    const [first, , third] = archive.images[0]!.layers;
    expect(third).toEqual(first);
    expect(archive.layers.size).toBe(2);
  });

  test('zstd is read where Node.js can, else refused with the remedy', async () => {
    const { zstdCompressSync } = zlib as { zstdCompressSync?: (bytes: Buffer) => Buffer };
    const bytes = await tarOf(savedLayout(await input()).entries);
    if (zstdCompressSync) return expect((await read(zstdCompressSync(bytes))).images).toHaveLength(1);
    const compressed = Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), bytes]);
    return expect(read(compressed)).rejects.toThrow(/zstd.*Node.js 22.15/);
  });
});

describe('refused, with a sentence:', () => {
  const broken = async (change: (entries: Entry[]) => Entry[]) => {
    return tarOf(change(savedLayout(await input()).entries));
  };
  const without = (pattern: RegExp) => (entries: Entry[]) =>
    entries.filter(({ name }) => !pattern.test(name));
  const adding = (entry: Entry) => (entries: Entry[]) => [...entries, entry];
  const link = (name: string, linkname: string): Entry => ({ name, type: 'symlink', linkname, content: '' });

  test.each([
    ['a name that leads out', adding(file('../../etc/cron.d/x', 'x')), /leads out of it/],
    ['a name with .. in the middle', adding(file('a/../../x', 'x')), /leads out of it/],
    ['a link out', adding(link('a/layer.tar', '../../../etc/shadow')), /link out of it/],
    ['an absolute link', adding(link('a/layer.tar', '/etc/shadow')), /link out of it/],
    ['a device', adding({ name: 'x', type: 'character-device', content: '' }), /is no file/],
    ['a member that comes twice', adding(file('manifest.json', '[]')), /twice/],
    ['no manifest', without(/^manifest/), /no manifest.json/],
    ['no configuration', without(/^[0-9a-f]+\.json$/), /lacks the configuration/],
    ['no layer', without(/layer\.tar$/), /lacks a layer/],
    [
      'a manifest that is no JSON',
      (e: Entry[]) => adding(file('manifest.json', '{'))(without(/^manifest/)(e)),
      /manifest.json that can't be read/,
    ],
    [
      'a manifest of nothing',
      (e: Entry[]) => adding(file('manifest.json', '[]'))(without(/^manifest/)(e)),
      /lists no images/,
    ],
    [
      'a manifest that names what is outside',
      (e: Entry[]) =>
        adding(file('manifest.json', '[{"Config":"../../etc/passwd","Layers":[]}]'))(without(/^manifest/)(e)),
      /out of it/,
    ],
    [
      'links in a circle',
      (e: Entry[]) => [
        ...without(/^manifest/)(e),
        link('c.json', 'd.json'),
        link('d.json', 'c.json'),
        file('manifest.json', '[{"Config":"c.json","Layers":[]}]'),
      ],
      /circle/,
    ],
  ])('%s', async (_, change, message) => {
    await expect(read(await broken(change))).rejects.toMatchObject({
      name: 'BuilderError',
      message: expect.stringMatching(message),
    });
  });

  test('fewer layers than the configuration has', async () => {
    const { entries } = savedLayout(await input());
    const text = String(entries.at(-1)!.content);
    const [entry] = JSON.parse(text) as [{ Layers: string[] }];
    entry.Layers.pop();
    entries[entries.length - 1] = file('manifest.json', JSON.stringify([entry]));
    await expect(read(await tarOf(entries))).rejects.toThrow(/lists 2 layers for an image of 3/);
  });

  test('a document too large to be one', async () => {
    const large = file('big.json', Buffer.alloc(2 ** 24 + 1));
    await expect(read(await broken(adding(large)))).rejects.toThrow(/document of 16777217 bytes/);
  });

  test('a layer whose own entries lead out', async () => {
    const { entries } = savedLayout({ layers: [await tarOf([file('server/../../x', 'x')])] });
    await expect(read(await tarOf(entries))).rejects.toThrow(/layer .*leads out of it/);
  });

  test('what is no archive', async () => {
    await expect(read(Buffer.alloc(4096, 'no tar '))).rejects.toThrow(/is no image archive/);
    await expect(read(Buffer.alloc(0))).rejects.toThrow(/no manifest.json/);
  });

  test('every truncation, plain and compressed', async () => {
    const bytes = await tarOf(savedLayout(await input()).entries);
    for (const whole of [bytes, gzipSync(bytes)]) {
      const step = Math.ceil(whole.length / 40);
      // The last 1024 bytes of a tar are its end mark, without which it is complete as well.
      const end = whole === bytes ? whole.length - 1024 : whole.length;
      for (let length = 1; length < end; length += step)
        await expect(read(whole.subarray(0, length))).rejects.toMatchObject({ name: 'BuilderError' });
    }
  });

  test('a size that lies', async () => {
    const bytes = await tarOf(savedLayout(await input()).entries);
    // The size field of the first entry: more than there is.
    const lying = Buffer.from(bytes);
    lying.write('77777777777', 124);
    let sum = 8 * 32;
    for (let at = 0; at < 512; at++) if (at < 148 || at >= 156) sum += lying[at]!;
    lying.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    await expect(read(lying)).rejects.toThrow(/cut off/);
  });
});
