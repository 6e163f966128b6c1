import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runCli } from '../../../../builder/cli.js';
import { readBuilderConfig } from '../../../../builder/config.js';
import type { IsolatedContainer, IsolatedOptions } from '../../../../builder/docker/isolated.js';
import { formatGolden } from '../../../../builder/seal/golden.js';
import { formatSealedManifest, sealedManifest } from '../../../../builder/seal/manifest.js';
import { sealedSettings } from '../../../../builder/seal/settings.js';
import { digest, type Entry, file, type ImageInput, savedLayout, tarOf } from '../../../fakes/archive.js';
import { type FakeDocker, fakeDocker } from '../../../fakes/docker.js';
import { sink } from '../support.js';

export const NAME = 'slipway/m:sealed';
export const ANSWER = '{"error":null,"output":[{"label":"a","score":0.75}]}';
export const TYPE = 'application/json; charset=utf-8';
export const hash = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');

const golden = formatGolden({
  version: 1,
  request: { text: 'x' },
  response: { status: 200, contentType: TYPE, body: JSON.parse(ANSWER) },
  sha256: hash(ANSWER),
  recordedOn: { platform: 'linux/amd64', cpu: 'Here' },
});

export const SERVER: Record<string, string> = { '/server/main.mjs': 'v1', '/model.json': '{}' };
export const SBOM = '{"bomFormat":"CycloneDX"}';
export const SEAL: Record<string, string> = {
  '/server/sealed/golden.json': golden,
  '/server/sealed/sbom.cdx.json': SBOM,
};

const entriesOf = (files: Record<string, string>) =>
  Object.entries(files).map(([name, text]) => file(name.slice(1), text));

export interface Changes {
  /** Files of the image that is sealed, as they are; the manifest has SERVER. */
  server?: Record<string, string>;
  seal?: Record<string, string>;
  /** One more layer. */
  above?: Entry[];
  labels?: Record<string, string>;
  /** Of the image; the manifest has SETTINGS and the environment ENV. */
  settings?: Record<string, unknown>;
  env?: string[];
  manifest?: (text: string) => string;
}

export const ENV = ['PATH=/bin', 'PORT=8080'];
export const SETTINGS = {
  Entrypoint: ['node', '/server/main.mjs'],
  Healthcheck: { Test: ['CMD', 'node', '/server/healthcheck.mjs'], Interval: 15e9 },
  WorkingDir: '/server',
  ExposedPorts: { '80/tcp': {} },
};
const LABELS = { 'io.slipway.sealed': 'true', 'io.slipway.model': 'org/m' };

export type Layout = (input: ImageInput) => { id: string; entries: Entry[] };

export async function sealedImage(
  {
    server = SERVER,
    seal = SEAL,
    above,
    labels,
    settings = SETTINGS,
    env = ENV,
    manifest = (t) => t,
  }: Changes = {},
  layout: Layout = savedLayout,
) {
  const base = await tarOf(entriesOf(SERVER));
  const all = Object.entries({ ...SERVER, ...SEAL });
  const files = all.map(([name, text]) => ({ path: name, size: text.length, sha256: hash(text) }));
  const spec = { id: 'org/m', commit: 'c', task: 'text-classification' } as const;
  const text = manifest(
    formatSealedManifest(
      sealedManifest({
        ...{ spec, platform: 'linux/amd64', layers: [digest(base)], files },
        // As an engine tells it, with what is not set and what it stamps.
        config: sealedSettings({
          ...SETTINGS,
          Env: ENV,
          Labels: LABELS,
          User: '',
          Image: 'x',
          OnBuild: null,
        }),
      }),
    ),
  );
  const layers = [
    await tarOf(entriesOf(server)),
    await tarOf([...entriesOf(seal), file('server/sealed/manifest.json', text)]),
    ...(above ? [await tarOf(above)] : []),
  ];
  const told = { ...LABELS, 'io.slipway.manifest': hash(text), ...labels };
  return { ...layout({ names: [NAME], labels: told, settings, env, layers }), manifest: text };
}

export interface Behaviour {
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
export function engine(behaviour: Behaviour = {}): FakeDocker & { started: IsolatedOptions[] } {
  const started: IsolatedOptions[] = [];
  const container: IsolatedContainer = {
    id: 'c',
    async exec(command, { stdin } = {}) {
      const script = command.join(' ');
      const say = (text: string) => ({ code: 0, stdout: Buffer.from(text), stderr: '' });
      if (script.includes('snmp')) return say(snmp(behaviour.counters));
      if (script.includes('cpus()')) return say('There\n');
      const reply = (status: number, contentType: string, text: string) =>
        say(
          JSON.stringify({
            status,
            headers: { 'content-type': contentType },
            base64: Buffer.from(text).toString('base64'),
          }),
        );
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

/** What a tarball holds. */
export type Given = { entries: Entry[] } | { bytes: Buffer };

export async function verify(docker: FakeDocker, image: Given, ...flags: string[]) {
  const folder = await mkdtemp(path.join(tmpdir(), 'slipway-verify-'));
  try {
    return await verifyIn(folder, { docker, image, flags });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function verifyIn(
  folder: string,
  { docker, image, flags }: { docker: FakeDocker; image: Given; flags: string[] },
) {
  const tarball = path.join(folder, 'm.tar');
  await writeFile(tarball, 'bytes' in image ? image.bytes : await tarOf(image.entries));
  const [out, err] = [sink(), sink()];
  const deps = {
    config: readBuilderConfig({}),
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

export interface Proof {
  id: string;
  passed: boolean;
  exact?: boolean;
  steps: { step: string; passed: boolean; detail: string; problems: string[] }[];
}

export const stepIn = (proof: Proof | undefined, step: string) =>
  proof!.steps.find((candidate) => candidate.step === step)!;
export const problemsOf = (proof: Proof | undefined, step: string) => stepIn(proof, step).problems;
