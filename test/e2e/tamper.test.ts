import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describeWithDocker } from './support/engine.js';
import {
  changedLayer,
  layerWith,
  newLayer,
  type OpenImage,
  openTarball,
  rehashed,
  type TarLayout,
} from './support/tamper.js';
import { docker } from './support/process.js';
import { openWorkshop, type Workshop } from './support/workshop.js';

interface Proof {
  id: string;
  passed: boolean;
  steps: { step: string; passed: boolean; problems: string[] }[];
}

const MANIFEST = '/server/sealed/manifest.json';

/** What somebody on the way might do to a tarball, with every hash made right again; and what is told of it. */
const KINDS: [what: string, layout: TarLayout, change: (image: OpenImage) => unknown, problem: RegExp][] = [
  [
    'code that is preloaded',
    'docker',
    ({ config: { config } }) => config.Env.push('NODE_OPTIONS=--import=data:text/javascript,0'),
    /^added: variable NODE_OPTIONS$/,
  ],
  ['a preset key', 'oci', ({ config: { config } }) => config.Env.push('KEY=known'), /^added: variable KEY$/],
  [
    'another entrypoint',
    'oci',
    ({ config: { config } }) => (config['Entrypoint'] = ['sh', '-c', 'exec node /server/main.mjs']),
    /^changed: Entrypoint is/,
  ],
  ['a command', 'docker', ({ config: { config } }) => (config['Cmd'] = ['fetch']), /^changed: Cmd is/],
  [
    'another health check',
    'docker',
    ({ config: { config } }) => (config['Healthcheck'] = { Test: ['CMD', 'true'] }),
    /^changed: Healthcheck is/,
  ],
  ['another user', 'oci', ({ config: { config } }) => (config['User'] = '0:0'), /^changed: User is "0:0"/],
  [
    'another folder',
    'docker',
    ({ config: { config } }) => (config['WorkingDir'] = '/tmp'),
    /^changed: WorkingDir is/,
  ],
  [
    'another label',
    'oci',
    ({ config: { config } }) => (config.Labels['io.slipway.task'] = 'fill-mask'),
    /^changed: label io.slipway.task/,
  ],
  [
    'one layer more',
    'docker',
    async (image) => image.layers.push(await newLayer({ 'etc/ld.so.preload': '/x.so' })),
    /^added: layer sha256:/,
  ],
  ['a changed runtime file', 'oci', changing(/^\/server\/main\.mjs$/), /^changed: \/server\/main\.mjs$/],
  ['a changed file of the base', 'docker', changing(/\/bin\/node$/), /^changed or missing: layer sha256:/],
  ['a changed weight', 'docker', changing(/\/model\.onnx$/), /^changed: \/server\/model\/.*\/model\.onnx$/],
];

function changing(file: RegExp) {
  return async ({ layers }: OpenImage) => {
    const index = await layerWith(layers, file);
    layers[index] = await changedLayer(layers[index]!, (name, content) => {
      if (!file.test(name)) return content;
      const changed = Buffer.from(content);
      changed[changed.length - 9]! ^= 1;
      return changed;
    });
  };
}

/** The whole image made anew by one who knows how: the record says what the image is. */
async function forge(image: OpenImage): Promise<void> {
  await changing(/\/model\.onnx$/)(image);
  const digests = image.layers.map((layer) => `sha256:${createHash('sha256').update(layer).digest('hex')}`);
  const weights = await layerWith(image.layers, /\/model\.onnx$/);
  let changed = '';
  await changedLayer(image.layers[weights]!, (name, content) => {
    if (name.endsWith('/model.onnx')) changed = createHash('sha256').update(content).digest('hex');
    return content;
  });
  const top = image.layers.length - 1;
  image.layers[top] = await changedLayer(image.layers[top]!, (name, content) => {
    if (name !== MANIFEST) return content;
    const record = JSON.parse(String(content)) as {
      base: { layers: string[] };
      files: { path: string; sha256: string }[];
    };
    record.base.layers = digests.slice(0, -1);
    record.files.find((file) => file.path.endsWith('/model.onnx'))!.sha256 = changed;
    const text = Buffer.from(`${JSON.stringify(record, null, 1)}\n`);
    image.config.config.Labels['io.slipway.manifest'] = createHash('sha256').update(text).digest('hex');
    return text;
  });
}

describeWithDocker('a tarball that was changed on its way, and whose hashes are right again', () => {
  let workshop: Workshop;
  let id: string;
  let original: OpenImage;
  const at = (name: string) => path.join(workshop.folder, name);
  beforeAll(async () => {
    workshop = await openWorkshop();
    for (const name of ['release', 'other']) await done('keygen', at(name));
    const sign = ['--sign-key', at('release.key')];
    const sealed = await done('snapshot', workshop.hub.models.text.about.id, ...sign);
    await done('export', sealed, '-o', at('model.tar'));
    id = await docker('inspect', '--format', '{{.Id}}', sealed);
    original = await openTarball(at('model.tar'));
  });
  afterAll(() => workshop.close());

  async function done(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await workshop.builder(args, { XDG_DATA_HOME: at('data') });
    if (code !== 0) throw new Error(stderr);
    return stdout.trim();
  }

  const copy = (): OpenImage => ({
    ...structuredClone({ ...original, layers: [] }),
    layers: [...original.layers],
  });

  async function verify(...flags: string[]) {
    const given = ['verify', at('changed.tar'), '--no-run', '--json', ...flags];
    const { code, stdout, stderr } = await workshop.builder(given);
    return { code, stderr, proof: stdout === '' ? undefined : (JSON.parse(stdout) as Proof) };
  }
  /** Demanded with the signature of the original, which is all that travels with a tarball. */
  const signed = (key = 'release') => [
    ...['--key', at(`${key}.pub`)],
    ...['--bundle', at('model.tar.sigstore.json')],
  ];
  const problems = (proof: Proof | undefined) => proof!.steps.flatMap((step) => step.problems);

  test.each<TarLayout>(['docker', 'oci'])('written again unchanged, as %s, it passes', async (layout) => {
    await rehashed(copy(), at('changed.tar'), layout);
    const { code, proof } = await verify();
    expect({ code, problems: problems(proof) }).toEqual({ code: 0, problems: [] });
  });

  test.each(KINDS)('%s (%s)', async (_, layout, change, problem) => {
    const image = copy();
    await change(image);
    await rehashed(image, at('changed.tar'), layout);
    const { code, proof } = await verify();
    expect(code).toBe(1);
    expect(problems(proof)).toContainEqual(expect.stringMatching(problem));
    const demanded = await verify('--id', id, ...signed());
    expect(demanded.proof!.steps.slice(0, 2)).toMatchObject([
      { step: 'id', passed: false },
      { step: 'signature', passed: false },
    ]);
  });

  test('the signature beside the tarball is found, and fits; another key does not', async () => {
    const own = ['verify', at('model.tar'), '--no-run', '--id', id];
    await done(...own, '--key', at('release.pub'));
    const other = await workshop.builder([...own, '--key', at('other.pub')]);
    expect({ code: other.code, stderr: other.stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/is not proven: signature$/m),
    });
    expect(other.stdout).toMatch(/signed with another key/);
  });

  test('an image of the engine is proven with the bundle, or with what this machine keeps', async () => {
    const name = await docker('inspect', '--format', '{{index .RepoTags 0}}', id);
    const key = ['--key', at('release.pub')];
    expect(await done('verify', name, '--no-run', ...key)).toMatch(/^ok +signature/m);
    expect(await done('verify', name, ...signed())).toMatch(/^ok +golden/m);
  });

  test('neither image nor tarball, nor what is told, holds the private key', async () => {
    const key = await readFile(at('release.key'), 'utf8');
    const secret = key.split('\n')[2]!;
    expect(secret.length).toBeGreaterThan(40);
    expect((await readFile(at('model.tar'))).includes(secret)).toBe(false);
    expect(await readFile(at('model.tar.sigstore.json'), 'utf8')).not.toContain(secret);
  });

  test('an image that is sealed anew passes, but for its id and its signature', async () => {
    const image = copy();
    await forge(image);
    await rehashed(image, at('changed.tar'), 'oci');
    const { code, stderr } = await verify();
    expect(code).toBe(0);
    expect(stderr).toMatch(/who has sealed it/);
    const demanded = await verify('--id', id, ...signed());
    expect(demanded.code).toBe(1);
    expect(demanded.stderr).toMatch(/is not proven: id, signature$/m);
  });
});
