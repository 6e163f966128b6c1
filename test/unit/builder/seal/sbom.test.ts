import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import { debianPackages, operatingSystem } from '../../../../builder/seal/packages.js';
import { sbomOf } from '../../../../builder/seal/sbom.js';
import { sampleSpec } from '../fixtures.js';

const WEIGHTS = [
  { path: '/server/model/o/m/c/onnx/model.onnx', size: 3, sha256: 'a'.repeat(64) },
  { path: '/server/model/o/m/c/config.json', size: 2, sha256: 'b'.repeat(64) },
];
const PACKAGES = [
  { name: '@scope/pkg', version: '1.0.0', license: 'MIT', kind: 'npm' },
  { name: 'either', version: '2.0.0', license: '(MIT OR Apache-2.0)', kind: 'npm' },
  { name: 'libc6', version: '2.36-9+deb12u10', kind: 'deb/debian' },
];
const NODE = { path: '/usr/local/bin/node', version: '24.21.0', sha256: 'd'.repeat(64) };
const SYSTEM = { id: 'debian', version: '12' };

interface Component {
  type: string;
  name: string;
  version: string;
  purl?: string;
  hashes?: { alg: string; content: string }[];
  licenses?: { license: { id?: string; name?: string } }[];
  properties?: { name: string; value: string }[];
}

function componentsOf(license: string | undefined): Component[] {
  const spec = { ...sampleSpec(), license };
  const text = sbomOf({ spec, image: 'slipway/o_m', weights: WEIGHTS, packages: PACKAGES });
  return (JSON.parse(text) as { components: Component[] }).components;
}

/** The schema comes with the library; what it refers to lies beside it. */
function validator() {
  const folder = path.dirname(
    createRequire(import.meta.url).resolve('@cyclonedx/cyclonedx-library/package.json'),
  );
  const schema = (name: string) =>
    JSON.parse(readFileSync(path.join(folder, 'res/schema', name), 'utf8')) as { $id: string };
  const ajv = new Ajv.default({ strict: false, validateFormats: true });
  addFormats.default(ajv);
  for (const format of ['iri-reference', 'idn-email']) ajv.addFormat(format, true);
  ajv.addSchema(schema('spdx.SNAPSHOT.schema.json'), 'http://cyclonedx.org/schema/spdx.SNAPSHOT.schema.json');
  ajv.addSchema(
    schema('jsf-0.82.SNAPSHOT.schema.json'),
    'http://cyclonedx.org/schema/jsf-0.82.SNAPSHOT.schema.json',
  );
  return ajv.compile(schema('bom-1.6.SNAPSHOT.schema.json'));
}

test('is valid CycloneDX 1.6', () => {
  const validate = validator();
  for (const license of ['apache-2.0', 'llama3.2', 'x" \\ $(id)', undefined]) {
    const text = sbomOf({
      spec: { ...sampleSpec(), license },
      image: 'i',
      weights: WEIGHTS,
      packages: PACKAGES,
      node: license === undefined ? { ...NODE, version: undefined } : NODE,
      system: license === undefined ? { id: 'debian', version: undefined } : SYSTEM,
    });
    validate(JSON.parse(text));
    expect(validate.errors ?? []).toEqual([]);
  }
  expect(validate({ bomFormat: 'CycloneDX', specVersion: '1.6', components: [{ type: 'nonsense' }] })).toBe(
    false,
  );
});

test('every file of the model is a component with commit, hash and licence', () => {
  const files = componentsOf('apache-2.0').filter(({ type }) => type === 'file');
  expect(files.map(({ name }) => name).sort()).toEqual(WEIGHTS.map((file) => file.path).sort());
  for (const file of files) {
    const { sha256 } = WEIGHTS.find((one) => one.path === file.name)!;
    expect(file).toMatchObject({
      version: sampleSpec().commit,
      hashes: [{ alg: 'SHA-256', content: sha256 }],
      licenses: [{ license: { id: 'Apache-2.0' } }],
      properties: expect.arrayContaining([{ name: 'io.slipway:commit', value: sampleSpec().commit }]),
    });
  }
});

test('a licence that SPDX does not know is a name; none is none', () => {
  const model = (license?: string) =>
    componentsOf(license).find(({ type }) => type === 'machine-learning-model')!;
  expect(model('llama3.2').licenses).toEqual([{ license: expect.objectContaining({ name: 'llama3.2' }) }]);
  expect(model().licenses).toBeUndefined();
});

test('packages have package URLs', () => {
  const purls = componentsOf('mit').flatMap(({ purl }) => purl ?? []);
  expect(purls).toEqual(
    expect.arrayContaining(['pkg:npm/%40scope/pkg@1.0.0', 'pkg:deb/debian/libc6@2.36-9%2Bdeb12u10']),
  );
});

test('equal parts give equal text', () => {
  const parts = { spec: sampleSpec(), image: 'i', weights: WEIGHTS, packages: PACKAGES };
  const turned = { ...parts, weights: WEIGHTS.toReversed(), packages: PACKAGES.toReversed() };
  expect(sbomOf(turned)).toBe(sbomOf(parts));
});

test('Node.js and the operating system are components, under the names that scanners know', () => {
  const parts = { spec: sampleSpec(), image: 'i', weights: [], packages: [], node: NODE, system: SYSTEM };
  const { components } = JSON.parse(sbomOf(parts)) as { components: (Component & { cpe?: string })[] };
  expect(components.find(({ type }) => type === 'platform')).toMatchObject({
    name: 'node',
    version: '24.21.0',
    purl: 'pkg:generic/node@24.21.0',
    cpe: 'cpe:2.3:a:nodejs:node.js:24.21.0:*:*:*:*:*:*:*',
    hashes: [{ alg: 'SHA-256', content: NODE.sha256 }],
  });
  expect(components.find(({ type }) => type === 'operating-system')).toMatchObject({
    ...{ name: 'debian', version: '12' },
  });
});

describe('Debian packages', () => {
  test('are those that are installed, with processor, distribution and source', () => {
    const status = [
      'Package: libc6\nStatus: install ok installed\nArchitecture: amd64\nSource: glibc\nVersion: 2.36-9\nDescription: x\n Version: 9',
      'Package: libgcc\nStatus: install ok installed\nArchitecture: all\nSource: gcc (12.2-1)\nVersion: 1:12',
      'Package: gone\nStatus: deinstall ok config-files\nVersion: 1',
      '',
    ].join('\n\n');
    const packages = debianPackages(status, SYSTEM);
    expect(packages).toEqual([
      {
        ...{ name: 'libc6', version: '2.36-9', kind: 'deb/debian' },
        qualifiers: { arch: 'amd64', distro: 'debian-12', upstream: 'glibc' },
      },
      {
        ...{ name: 'libgcc', version: '1:12', kind: 'deb/debian' },
        qualifiers: { arch: 'all', distro: 'debian-12', upstream: 'gcc@12.2-1' },
      },
    ]);
    const text = sbomOf({ spec: sampleSpec(), image: 'i', weights: [], packages });
    expect(
      (JSON.parse(text) as { components: Component[] }).components.flatMap(({ purl }) => purl ?? []),
    ).toEqual(
      expect.arrayContaining([
        'pkg:deb/debian/libc6@2.36-9?arch=amd64&distro=debian-12&upstream=glibc',
        'pkg:deb/debian/libgcc@1%3A12?arch=all&distro=debian-12&upstream=gcc%4012.2-1',
      ]),
    );
  });

  test('of an image that lists each in a file of its own say nothing of being installed', () => {
    const [found] = debianPackages('Package: tzdata\nVersion: 2025b', { id: 'ubuntu', version: undefined });
    expect(found).toMatchObject({ kind: 'deb/ubuntu', qualifiers: { distro: 'ubuntu' } });
  });

  test('of a text that is none are none', () => {
    expect(debianPackages('')).toEqual([]);
  });
});

test('an operating system is what os-release says', () => {
  expect(operatingSystem('NAME="Debian"\nVERSION_ID="12"\nID=debian\n')).toEqual(SYSTEM);
  expect(operatingSystem('ID="ubuntu"')).toEqual({ id: 'ubuntu', version: undefined });
  expect(operatingSystem('VARIANT_ID=x')).toBeUndefined();
});

test('what packing cost a network is among its properties', () => {
  const packed = { ...sampleSpec(), likeness: 0.986, perplexity: { plain: 21.36, packed: 24.67 } };
  const text = sbomOf({ spec: packed, image: 'slipway/o_m', weights: WEIGHTS, packages: PACKAGES });
  const model = (JSON.parse(text) as { components: Component[] }).components.find(
    ({ type }) => type === 'machine-learning-model',
  );
  const values = Object.fromEntries(
    model!.properties!.map(({ name, value }) => [name.split(':').at(-1), value]),
  );
  expect(values).toMatchObject({ likeness: '0.986', perplexity: '24.67', 'perplexity-unpacked': '21.36' });
});
