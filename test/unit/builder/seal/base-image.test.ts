import { Readable } from 'node:stream';
import type { Docker } from '../../../../builder/docker/docker.js';
import { basePartsOf } from '../../../../builder/seal/base-image.js';
import { type Entry, file, tarOf } from '../../../fakes/archive.js';
import { fakeDocker } from '../../../fakes/docker.js';

const STATUS = 'Package: libc6\nStatus: install ok installed\nArchitecture: amd64\nVersion: 2.36\n';
const OS = 'ID=debian\nVERSION_ID="12"\n';
const address = (version: string) => `xx https://nodejs.org/download/release/v${version}/node.tar.gz yy`;

/** An image whose files are these, by path; a folder is its entries. */
function imageWith(files: Record<string, Entry[]>): Docker {
  return {
    ...fakeDocker(),
    async readImage({ path }, use) {
      const entries = files[path];
      return entries && use(Readable.from(pieces(await tarOf(entries)), { objectMode: false }));
    },
  };
}

/** Small ones, so that what is looked for lies across their edges. */
function* pieces(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 700) yield bytes.subarray(at, at + 700);
}

function image(env: string[] = ['PATH=/usr/local/bin:/usr/bin']) {
  const nothing = { references: [], labels: {}, size: 1, platform: 'linux/amd64', layers: [], settings: {} };
  return { ...nothing, id: 'sha256:1', env, entrypoint: [], command: [] };
}

const link = (name: string, linkname: string): Entry => ({ name, type: 'symlink', linkname, content: '' });

test('system, packages and Node.js of a Debian image', async () => {
  const docker = imageWith({
    '/etc/os-release': [link('os-release', '../usr/lib/os-release')],
    '/usr/lib/os-release': [file('os-release', OS)],
    '/var/lib/dpkg/status': [file('status', STATUS)],
    '/usr/local/bin/node': [file('node', 'z'.repeat(1995) + address('24.21.0'))],
  });
  expect(await basePartsOf(docker, image())).toEqual({
    system: { id: 'debian', version: '12' },
    packages: [expect.objectContaining({ name: 'libc6' })],
    node: {
      path: '/usr/local/bin/node',
      version: '24.21.0',
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
  });
});

test('of one without a package manager', async () => {
  const docker = imageWith({
    '/etc/os-release': [file('os-release', OS)],
    '/var/lib/dpkg/status.d': [
      { name: 'status.d/', type: 'directory' },
      file('status.d/libc6', 'Package: libc6\nVersion: 2.36\n'),
      file('status.d/libc6.md5sums', 'x'),
      file('status.d/tzdata', 'Package: tzdata\nVersion: 2025b'),
    ],
  });
  const { packages, node } = await basePartsOf(docker, image());
  expect(packages.map(({ name }) => name)).toEqual(['libc6', 'tzdata']);
  expect(node).toBeUndefined();
});

test.each([1950, 1970, 1990, 2000, 2010, 2030])(
  'a version at byte %d of the program is found',
  async (at) => {
    const docker = imageWith({ '/usr/bin/node': [file('node', 'z'.repeat(at) + address('20.1.23'))] });
    expect((await basePartsOf(docker, image())).node?.version).toBe('20.1.23');
  },
);

test('at the very end, too; and the address without a version is none', async () => {
  const text = 'nodejs.org/download/release/vX nodejs.org/download/release/v20.1.2';
  const docker = imageWith({ '/usr/bin/node': [file('node', text)] });
  expect((await basePartsOf(docker, image())).node?.version).toBe('20.1.2');
});

test('links are followed, not in a circle; a program that does not tell has what its image says', async () => {
  const docker = imageWith({
    '/usr/local/bin/node': [link('node', 'node')],
    '/usr/bin/node': [link('node', '../lib/nodejs')],
    '/usr/lib/nodejs': [file('nodejs', 'own build')],
  });
  const { node } = await basePartsOf(docker, image(['PATH=/usr/local/bin:/usr/bin', 'NODE_VERSION=22.1.0']));
  expect(node).toMatchObject({ path: '/usr/lib/nodejs', version: '22.1.0' });
  expect((await basePartsOf(docker, image([]))).node).toMatchObject({ version: undefined });
});
