import { file } from '../../../fakes/archive.js';
import {
  ANSWER,
  type Behaviour,
  type Changes,
  engine,
  NAME,
  problemsOf,
  SEAL,
  sealedImage,
  SERVER,
  stepIn,
  verify,
} from './support.js';

test('a sealed image passes; nothing of this environment reaches its container', async () => {
  const docker = engine();
  const { code, proof } = await verify(docker, await sealedImage());
  expect(proof).toMatchObject({
    model: 'org/m',
    passed: true,
    exact: true,
    steps: ['config', 'files', 'network', 'golden'].map((step) => ({ step, passed: true, problems: [] })),
  });
  expect(code).toBe(0);
  expect(docker.started.map(({ env }) => env)).toEqual([{ KEY: 'any', LOG_FORMAT: 'text' }]);
  expect(docker.loads).toHaveLength(1);
});

test('hashes alone need no engine', async () => {
  const docker = { ...engine(), inspectImage: () => Promise.reject(new Error('no engine')) };
  const { code, proof } = await verify(docker, await sealedImage(), '--no-run');
  expect({ code, steps: proof!.steps.length }).toEqual({ code: 0, steps: 2 });
});

describe('files', () => {
  test.each<[string, Changes, RegExp[]]>([
    [
      'a changed one',
      { server: { ...SERVER, '/server/main.mjs': 'v2' } },
      [/changed or missing: layer/, /^changed: \/server\/main.mjs$/],
    ],
    ['a missing one', { server: { '/model.json': '{}' } }, [/layer/, /^missing: \/server\/main.mjs$/]],
    ['one more', { server: { ...SERVER, '/server/x': '' } }, [/layer/, /^added: \/server\/x$/]],
    ['one more layer', { above: [file('etc/passwd', 'x')] }, [/^added: layer sha256:/]],
    [
      'a layer that takes one away',
      { above: [file('server/.wh.main.mjs', '')] },
      [/added: layer/, /^missing: \/server\/main.mjs/],
    ],
    [
      'a link in its place',
      { above: [{ name: 'server/main.mjs', type: 'symlink', linkname: '/tmp/x', content: '' }] },
      [/added: layer/, /^missing/],
    ],
    [
      'more in the sealing layer',
      { seal: { ...SEAL, '/usr/bin/node': 'x' } },
      [/^added: \/usr\/bin\/node \(in the sealing layer\)/],
    ],
    [
      'another manifest than the label says',
      { labels: { 'io.slipway.manifest': 'x' } },
      [/^changed: .*manifest.json .*label says x/],
    ],
  ])('%s fails the proof', async (_, changes, problems) => {
    const { code, proof, stderr } = await verify(engine(), await sealedImage(changes), '--no-run');
    expect(code).toBe(1);
    expect(problemsOf(proof, 'files')).toEqual(problems.map((problem) => expect.stringMatching(problem)));
    expect(stderr).toMatch(/is not proven: files$/m);
  });

  test('an image that is not sealed: exit 3 and the remedy', async () => {
    const { code, stderr, proof } = await verify(
      engine(),
      await sealedImage({ labels: { 'io.slipway.sealed': 'false' } }),
    );
    expect({ code, proof }).toEqual({ code: 3, proof: undefined });
    expect(stderr).toContain('builder snapshot');
  });

  test.each([
    ['no golden record', { seal: {} }, /no \/server\/sealed\/golden.json/],
    ['a manifest that is none', { manifest: () => '{}' }, /seal the model again/],
  ])('%s: exit 1 and a sentence', async (_, changes, message) => {
    const { code, stderr } = await verify(engine(), await sealedImage(changes), '--no-run');
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(message) });
  });
});

describe('network', () => {
  test.each<[string, Behaviour['counters'], RegExp]>([
    ['packets without a route', { noRoute: 2 }, /2 without a route/],
    ['connects that nobody accepts', { opens: 4 }, /1 to the loopback, accepted by nobody/],
    ['datagrams that nobody takes', { udp: 5 }, /5 datagrams on the loopback/],
  ])('%s fail the proof, and a second run names their targets', async (_, counters, detail) => {
    const log = '{"msg":"slipway-attempt:tcp:a.example:443;\\n"}\nslipway-attempt:tcp:127.0.0.1:8080;\n';
    const docker = engine({ counters, log });
    const { code, proof } = await verify(docker, await sealedImage());
    expect(code).toBe(1);
    expect(stepIn(proof, 'network').detail).toMatch(detail);
    expect(problemsOf(proof, 'network')).toEqual(['tcp a.example port 443']);
    expect(docker.started.map(({ env }) => 'NODE_OPTIONS' in env)).toEqual([false, true]);
  });

  test('attempts of native code fail it as well', async () => {
    const { code, proof } = await verify(engine({ counters: { noRoute: 1 } }), await sealedImage());
    expect(code).toBe(1);
    expect(problemsOf(proof, 'network')).toEqual([expect.stringMatching(/no JavaScript made the attempt/)]);
  });
});

describe('golden', () => {
  const near = ANSWER.replace('0.75', '0.7504');

  test('last digits may differ, unless the bytes are demanded', async () => {
    const { code, proof } = await verify(engine({ answer: near }), await sealedImage());
    expect({ code, exact: proof!.exact }).toEqual({ code: 0, exact: false });
    expect(stepIn(proof, 'golden').detail).toMatch(/within 0.001; recorded on Here .*this is There/);
    expect((await verify(engine({ answer: near }), await sealedImage(), '--exact')).code).toBe(1);
    expect((await verify(engine(), await sealedImage(), '--exact')).code).toBe(0);
  });

  test.each<[string, Behaviour, RegExp]>([
    ['another label', { answer: ANSWER.replace('"a"', '"b"') }, /\.output\[0\]\.label is "b", and was "a"/],
    ['an error', { status: 500, answer: '{"error":"x","output":null}' }, /status is 500/],
    ['another type', { contentType: 'text/html', answer: near }, /content type is text\/html/],
    ['no JSON', { answer: '<html>' }, /no JSON/],
  ])('%s fails the proof', async (_, behaviour, problem) => {
    const { code, proof } = await verify(engine(behaviour), await sealedImage());
    expect(code).toBe(1);
    expect(problemsOf(proof, 'golden')).toEqual([expect.stringMatching(problem)]);
  });
});

describe('the image of a tarball', () => {
  test('is loaded under a name of its own and goes again', async () => {
    const docker = engine();
    await verify(docker, await sealedImage());
    expect(docker.started[0]!.image).toMatch(/^slipway-verify:/);
    expect([...docker.images.keys()]).toEqual([]);
  });

  test('is not loaded where it is there, and stays', async () => {
    const docker = engine();
    const image = await sealedImage();
    const nothing = {
      labels: {},
      size: 1,
      layers: [],
      env: [],
      entrypoint: [],
      command: [],
      settings: {},
      created: 0,
    };
    docker.images.set(NAME, { id: image.id, references: [NAME], platform: 'linux/amd64', ...nothing });
    await verify(docker, image);
    expect(docker.loads).toEqual([]);
    expect([...docker.images.keys()]).toEqual([NAME]);
  });
});
