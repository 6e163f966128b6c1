import { blobLayout, digest, type Entry, file, savedLayout, tarOf } from '../../../fakes/archive.js';
import {
  type Changes,
  engine,
  ENV,
  hash,
  type Layout,
  problemsOf,
  sealedImage,
  SERVER,
  SETTINGS,
  verify,
} from './support.js';

const LAYOUTS: [string, Layout][] = [
  ['as Engine 20.10 saves it', savedLayout],
  ['as Engine 25 and later save it', blobLayout],
];

describe.each(LAYOUTS)('the configuration of an image, %s', (_, layout) => {
  test('is as it was sealed, whatever an engine writes for what is not set', async () => {
    const settings = { ...SETTINGS, User: '', Cmd: null, Volumes: {}, Hostname: 'c0ffee', Tty: false };
    const { code, proof } = await verify(engine(), await sealedImage({ settings }, layout), '--no-run');
    expect({ code, problems: problemsOf(proof, 'config') }).toEqual({ code: 0, problems: [] });
  });

  test.each<[string, Changes, RegExp]>([
    [
      'code that is preloaded',
      { env: [...ENV, 'NODE_OPTIONS=--import=/x'] },
      /^added: variable NODE_OPTIONS$/,
    ],
    ['a preset key', { env: [...ENV, 'KEY=k3y'] }, /^added: variable KEY$/],
    ['another value of a variable', { env: ['PATH=/tmp', ENV[1]!] }, /^changed: variable PATH$/],
    ['a variable less', { env: ['PATH=/bin'] }, /^missing: variable PORT$/],
    ['a variable twice', { env: [...ENV, ENV[0]!] }, /one of them twice/],
    [
      'another entrypoint',
      { settings: { ...SETTINGS, Entrypoint: ['sh'] } },
      /^changed: Entrypoint is \["sh"\]/,
    ],
    [
      'a command',
      { settings: { ...SETTINGS, Cmd: ['fetch'] } },
      /^changed: Cmd is \["fetch"\], and was nothing/,
    ],
    [
      'another health check',
      { settings: { ...SETTINGS, Healthcheck: { Test: ['CMD-SHELL', 'curl x'] } } },
      /^changed: Healthcheck/,
    ],
    ['another user', { settings: { ...SETTINGS, User: '1000' } }, /^changed: User is "1000"/],
    ['another folder', { settings: { ...SETTINGS, WorkingDir: '/' } }, /^changed: WorkingDir/],
    [
      'a volume over the weights',
      { settings: { ...SETTINGS, Volumes: { '/server/model': {} } } },
      /^changed: Volumes/,
    ],
    [
      'one port more',
      { settings: { ...SETTINGS, ExposedPorts: { '80/tcp': {}, '9/tcp': {} } } },
      /ExposedPorts/,
    ],
    ['another stop signal', { settings: { ...SETTINGS, StopSignal: 'SIGKILL' } }, /^changed: StopSignal/],
    ['a trigger', { settings: { ...SETTINGS, OnBuild: ['RUN x'] } }, /^changed: OnBuild/],
    ['a shell', { settings: { ...SETTINGS, Shell: ['/x'] } }, /^changed: Shell/],
    ['a field of tomorrow', { settings: { ...SETTINGS, Tomorrow: 1 } }, /^changed: Tomorrow is 1/],
    [
      'another label',
      { labels: { 'io.slipway.model': 'org/other' } },
      /^changed: label io.slipway.model: "org\/other"$/,
    ],
    ['one label more', { labels: { x: '\u001b[2J' } }, /^added: label x: "\\u001b\[2J"$/],
  ])('%s fails the proof, and is named', async (_, changes, problem) => {
    const { code, proof, stderr } = await verify(engine(), await sealedImage(changes, layout), '--no-run');
    expect({ code, problems: problemsOf(proof, 'config') }).toEqual({
      code: 1,
      problems: [expect.stringMatching(problem)],
    });
    expect(stderr).toMatch(/is not proven: config$/m);
    expect(stderr).not.toMatch(/k3y/);
  });
});

test('what names of an image hold steers no terminal', async () => {
  const image = await sealedImage({ server: { ...SERVER, '/server/a\u001b]0;x\u202eb': '' } });
  const { proof } = await verify(engine(), image, '--no-run');
  expect(problemsOf(proof, 'files')).toContain('added: /server/a\\u{1b}]0;x\\u{202e}b');
});

describe('the id', () => {
  /** Sealed anew by somebody else: in itself all is as it should be. */
  const forged = () => sealedImage({ manifest: (text) => text.replace('"commit": "c"', '"commit": "d"') });

  test('without it a note says what nothing proves', async () => {
    const image = await forged();
    const { code, stderr } = await verify(engine(), image, '--no-run');
    expect(code).toBe(0);
    expect(stderr).toMatch(new RegExp(`who has sealed it: compare its id, ${image.id}`));
  });

  test('that was printed passes', async () => {
    const image = await sealedImage();
    const { code, proof, stderr } = await verify(engine(), image, '--id', image.id);
    expect({ code, id: proof!.id, first: proof!.steps[0] }).toMatchObject({
      ...{ code: 0, id: image.id },
      first: { step: 'id', passed: true },
    });
    expect(stderr).not.toMatch(/who has sealed it/);
  });

  test('of another image fails, and what is not it is not started', async () => {
    const docker = engine();
    const { id } = await sealedImage();
    const { code, proof, stderr } = await verify(docker, await forged(), '--id', id.replace('sha256:', ''));
    expect(code).toBe(1);
    expect(problemsOf(proof, 'id')).toEqual([expect.stringContaining(`${id} was demanded`)]);
    expect(docker.started).toEqual([]);
    expect(stderr).toMatch(/is not proven: id, network, golden$/m);
  });

  test.each(['6c3f', 'sha256:', 'sha512:' + 'a'.repeat(64)])('%s is none: exit 2', async (id) => {
    const { code, stderr } = await verify(engine(), await sealedImage(), '--id', id);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/the whole id/) });
  });
});

describe('a file that is two images', () => {
  const replaced = (entries: Entry[], name: RegExp, change: (text: string) => string) =>
    entries.map((entry) =>
      name.test(entry.name) ? { ...entry, content: change(String(entry.content)) } : entry,
    );
  const hidden = (text: string, space = '') => {
    const index = { schemaVersion: 2, manifests: [{ digest: digest(space + text) }] };
    return [
      file(`blobs/sha256/${hash(space + text)}`, space + text),
      file('index.json', JSON.stringify(index)),
    ];
  };
  const evil = JSON.stringify({ config: { digest: digest('evil') }, layers: [] });
  const nested = JSON.stringify({ manifests: [{ digest: digest(evil) }] });
  const withoutIndex = (entries: Entry[]) => entries.filter(({ name }) => name !== 'index.json');

  test.each<[string, (entries: Entry[]) => Entry[], RegExp]>([
    [
      'an index of another one',
      (e) => [...withoutIndex(e), ...hidden(evil)],
      /index.json that leads to another/,
    ],
    [
      'an index of an index of another one',
      (e) => [...withoutIndex(e), ...hidden(nested), file(`blobs/sha256/${hash(evil)}`, evil)],
      /index.json that leads to another/,
    ],
    [
      'a manifest that looks like a layer',
      (e) => [...withoutIndex(e), ...hidden(evil, ' ')],
      /layer .* is cut off/,
    ],
    [
      'keys that differ by case',
      (e) => replaced(e, /^manifest.json$/, (t) => t.replace('"Config"', '"config":"evil","Config"')),
      /"Config" stands there twice/,
    ],
    [
      'keys that differ by Unicode’s case',
      (e) => replaced(e, /^manifest.json$/, (t) => t.replace('"RepoTags"', '"Layer\u017f":[],"RepoTags"')),
      /"Layers" stands there twice/,
    ],
  ])('%s', async (_, change, message) => {
    const { entries } = await sealedImage({}, blobLayout);
    const { code, stderr } = await verify(engine(), { entries: change(entries) }, '--no-run');
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(message) });
  });

  test('another one behind the end of the first', async () => {
    const { entries } = await sealedImage({}, savedLayout);
    const old = [file('evil/VERSION', '1.0'), file('repositories', '{}')];
    const [front, behind] = [await tarOf(old), await tarOf(entries)];
    const { code, stderr } = await verify(engine(), { bytes: Buffer.concat([front, behind]) }, '--no-run');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/behind the mark of its end/),
    });
  });

  test('what builders say of an image beside it is none', async () => {
    const { entries, id } = await sealedImage({}, blobLayout);
    const text = String(entries.find(({ name }) => name === 'index.json')!.content);
    const { manifests } = JSON.parse(text) as { manifests: object[] };
    const index = JSON.stringify({
      manifests: [
        ...manifests,
        { digest: digest(evil), platform: { os: 'unknown', architecture: 'unknown' } },
      ],
    });
    const both = [
      ...withoutIndex(entries),
      file('index.json', index),
      file(`blobs/sha256/${hash(evil)}`, evil),
    ];
    expect(await verify(engine(), { entries: both }, '--no-run', '--id', id)).toMatchObject({ code: 0 });
  });
});
