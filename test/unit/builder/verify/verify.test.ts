import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runCli } from '../../../../builder/cli.js';
import { readConfig } from '../../../../builder/config.js';
import type { IsolatedContainer, IsolatedOptions } from '../../../../builder/docker/isolated.js';
import { formatGolden } from '../../../../builder/seal/golden.js';
import { formatSealedManifest, sealedManifest } from '../../../../builder/seal/manifest.js';
import { digest, type Entry, file, savedLayout, tarOf } from '../../../fakes/archive.js';
import { type FakeDocker, fakeDocker } from '../../../fakes/docker.js';
import { sink } from '../support.js';

const NAME = 'slipway/m:sealed';
const ANSWER = '{"error":null,"output":[{"label":"a","score":0.75}]}';
const TYPE = 'application/json; charset=utf-8';
const hash = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');

const golden = formatGolden({
  version: 1,
  request: { text: 'x' },
  response: { status: 200, contentType: TYPE, body: JSON.parse(ANSWER) },
  sha256: hash(ANSWER),
  recordedOn: { platform: 'linux/amd64', cpu: 'Here' },
});

const SERVER: Record<string, string> = { '/server/main.mjs': 'v1', '/model.json': '{}' };
const SEAL: Record<string, string> = { '/server/sealed/golden.json': golden };

const entriesOf = (files: Record<string, string>) =>
  Object.entries(files).map(([name, text]) => file(name.slice(1), text));

interface Changes {
  /** Files of the image that is sealed, as they are; the manifest has SERVER. */
  server?: Record<string, string>;
  seal?: Record<string, string>;
  /** One more layer. */
  above?: Entry[];
  labels?: Record<string, string>;
  manifest?: (text: string) => string;
}

async function sealedImage({
  server = SERVER,
  seal = SEAL,
  above,
  labels,
  manifest = (t) => t,
}: Changes = {}) {
  const base = await tarOf(entriesOf(SERVER));
  const all = Object.entries({ ...SERVER, ...SEAL });
  const files = all.map(([name, text]) => ({ path: name, size: text.length, sha256: hash(text) }));
  const spec = { id: 'org/m', commit: 'c', task: 'text-classification' } as const;
  const text = manifest(
    formatSealedManifest(sealedManifest({ spec, platform: 'linux/amd64', layers: [digest(base)], files })),
  );
  const layers = [
    await tarOf(entriesOf(server)),
    await tarOf([...entriesOf(seal), file('server/sealed/manifest.json', text)]),
    ...(above ? [await tarOf(above)] : []),
  ];
  const told = { 'io.slipway.sealed': 'true', 'io.slipway.manifest': hash(text), ...labels };
  return savedLayout({ names: [NAME], labels: told, env: ['PORT=8080'], layers });
}

interface Behaviour {
  answer?: string;
  contentType?: string;
  status?: number;
  counters?: Partial<Record<'noRoute' | 'opens' | 'accepted' | 'udp', number>>;
  log?: string;
}

function snmp({ noRoute = 0, opens = 3, accepted = 3, udp = 0 }: Behaviour['counters'] = {}): string {
  return [
    `Ip: Forwarding OutNoRoutes\nIp: 1 ${noRoute}`,
    `Tcp: ActiveOpens PassiveOpens\nTcp: ${opens} ${accepted}`,
    `Udp: InDatagrams OutDatagrams\nUdp: 0 ${udp}`,
    'Ip6OutNoRoutes    0\nUdp6OutDatagrams  0\nUdp6InDatagrams  0',
  ].join('\n');
}

/** An engine with a container that does what the test says. */
function engine(behaviour: Behaviour = {}): FakeDocker & { started: IsolatedOptions[] } {
  const started: IsolatedOptions[] = [];
  const container: IsolatedContainer = {
    id: 'c',
    async exec(command, { stdin } = {}) {
      const script = command.join(' ');
      const say = (text: string) => ({ code: 0, stdout: Buffer.from(text), stderr: '' });
      if (script.includes('snmp')) return say(snmp(behaviour.counters));
      if (script.includes('cpus()')) return say('There\n');
      const reply = (status: number, contentType: string, text: string) =>
        say(JSON.stringify({ status, contentType, base64: Buffer.from(text).toString('base64') }));
      if (script.includes('/status')) return reply(200, TYPE, '{"output":{"state":"ready"}}');
      if (stdin !== undefined) expect(JSON.parse(String(stdin))).toEqual({ text: 'x' });
      return reply(behaviour.status ?? 200, behaviour.contentType ?? TYPE, behaviour.answer ?? ANSWER);
    },
    wait: () => new Promise(() => undefined),
    stop: async () => undefined,
    remove: async () => undefined,
  };
  const isolate = async (options: IsolatedOptions) => {
    started.push(options);
    options.onOutput?.(behaviour.log ?? '');
    return container;
  };
  return Object.assign(fakeDocker(), { started, isolate });
}

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(path.join(tmpdir(), 'slipway-verify-'))));
afterEach(() => rm(folder, { recursive: true, force: true }));

async function verify(docker: FakeDocker, image: { entries: Entry[] }, ...flags: string[]) {
  const tarball = path.join(folder, 'm.tar');
  await writeFile(tarball, await tarOf(image.entries));
  const [out, err] = [sink(), sink()];
  const deps = {
    config: readConfig({}),
    docker,
    packageRoot: '.',
    version: '1',
    stdout: out.stream,
    stderr: err.stream,
  };
  const code = await runCli(['verify', tarball, '--json', ...flags], deps);
  const text = out.text();
  return { code, stderr: err.text(), proof: text === '' ? undefined : (JSON.parse(text) as Proof) };
}

interface Proof {
  passed: boolean;
  exact?: boolean;
  steps: { step: string; passed: boolean; detail: string; problems: string[] }[];
}

const problemsOf = (proof: Proof | undefined, step: string) =>
  proof!.steps.find((candidate) => candidate.step === step)!.problems;

test('a sealed image passes; nothing of this environment reaches its container', async () => {
  const docker = engine();
  const { code, proof } = await verify(docker, await sealedImage());
  expect(proof).toMatchObject({
    model: 'org/m',
    passed: true,
    exact: true,
    steps: ['files', 'network', 'golden'].map((step) => ({ step, passed: true, problems: [] })),
  });
  expect(code).toBe(0);
  expect(docker.started.map(({ env }) => env)).toEqual([{ KEY: 'any', LOG_FORMAT: 'text' }]);
  expect(docker.loads).toHaveLength(1);
});

test('hashes alone need no engine', async () => {
  const docker = { ...engine(), inspectImage: () => Promise.reject(new Error('no engine')) };
  const { code, proof } = await verify(docker, await sealedImage(), '--no-run');
  expect({ code, steps: proof!.steps.length }).toEqual({ code: 0, steps: 1 });
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
    expect(proof!.steps[1]!.detail).toMatch(detail);
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
    expect(proof!.steps[2]!.detail).toMatch(/within 0.001; recorded on Here .*this is There/);
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
    const nothing = { labels: {}, size: 1, layers: [], env: [], entrypoint: [], command: [], created: 0 };
    docker.images.set(NAME, { id: image.id, references: [NAME], platform: 'linux/amd64', ...nothing });
    await verify(docker, image);
    expect(docker.loads).toEqual([]);
    expect([...docker.images.keys()]).toEqual([NAME]);
  });
});
