import { createHash } from 'node:crypto';
import {
  formatSealedManifest,
  parseManifest,
  hashLayerFiles,
  sealedManifest,
} from '../../../../builder/seal/manifest.js';
import { sampleSpec } from '../fixtures.js';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const LAYER = `sha256:${'a'.repeat(64)}`;

test('files are named by their place in the image and hashed; folders are left out', async () => {
  const files = await hashLayerFiles([
    { path: 'server/server/main.mjs', content: 'code' },
    { path: 'server/server/model/', mode: 0o1777 },
    { path: 'packages/server/node_modules/a/ä.js', content: Buffer.from('äx') },
    { path: 'root/model.json', content: { file: 'LICENSE', size: 11_358 } },
  ]);
  expect(files).toEqual([
    { path: '/server/main.mjs', size: 4, sha256: sha256('code') },
    { path: '/server/node_modules/a/ä.js', size: 3, sha256: sha256('äx') },
    { path: '/model.json', size: 11_358, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
  ]);
});

test('a manifest survives being written and read, sorted by path', () => {
  const files = ['/server/b', '/model.json', '/server/a'].map((path) => ({
    path,
    size: 1,
    sha256: sha256('x'),
  }));
  const manifest = sealedManifest({
    spec: sampleSpec(),
    platform: 'linux/arm64',
    config: {},
    layers: [LAYER],
    files,
  });
  const read = parseManifest(formatSealedManifest(manifest));
  expect(read).toEqual(manifest);
  expect(read).toMatchObject({ model: sampleSpec().id, platform: 'linux/arm64', base: { layers: [LAYER] } });
  expect(read.files.map(({ path }) => path)).toEqual(['/model.json', '/server/a', '/server/b']);
});

test.each([
  ['a path that leaves', { path: '/server/../etc/passwd', size: 1, sha256: sha256('') }],
  ['a relative path', { path: 'server/a', size: 1, sha256: sha256('') }],
  ['a negative size', { path: '/server/a', size: -1, sha256: sha256('') }],
  ['no hash', { path: '/server/a', size: 1, sha256: '' }],
])('a manifest with %s is refused', (_, file) => {
  const manifest = sealedManifest({
    spec: sampleSpec(),
    platform: 'linux/amd64',
    config: {},
    layers: [],
    files: [],
  });
  expect(() => parseManifest(JSON.stringify({ ...manifest, files: [file] }))).toThrow();
});
