import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { runCli } from '../../../../builder/cli.js';
import { readBuilderConfig } from '../../../../builder/config.js';
import { LABEL } from '../../../../builder/images/labels.js';
import { savedLayout, tarOf } from '../../../fakes/archive.js';
import { fakeDocker } from '../../../fakes/docker.js';
import { LABELS, manifestOf } from '../../../fakes/manifests.js';
import { sink } from '../support.js';

const UNBAKED = { ...LABELS, [LABEL.baked]: 'false' };

interface Pod {
  initContainers?: Container[];
  containers: Container[];
  volumes: { name: string }[];
}
interface Container {
  args?: string[];
  env: { name: string; value: string }[];
  resources: { requests: Record<string, string>; limits: Record<string, string> };
  startupProbe: { failureThreshold: number; periodSeconds: number };
  volumeMounts: { name: string; mountPath: string }[];
}

async function podOf(...args: Parameters<typeof manifestOf>): Promise<Pod> {
  const { documents } = await manifestOf(...args);
  return (documents[0] as { spec: { template: { spec: Pod } } }).spec.template.spec;
}

describe('a manifest', () => {
  test('takes memory and the time to start from the figures', async () => {
    const { containers } = await podOf('kubernetes');
    const { resources, startupProbe } = containers[0]!;
    // 700 MB and 5 %, in steps of 16 MiB; 30.5 s three times, asked every second; 67 million parameters.
    expect(resources.requests).toEqual({ cpu: '0.3', memory: '704Mi' });
    expect(resources.limits).toEqual({ memory: '704Mi' });
    expect([startupProbe.failureThreshold, startupProbe.periodSeconds]).toEqual([92, 1]);
    expect(containers[0]!.env).toContainEqual({ name: 'THREADS', value: '2' });
  });

  test.each([
    ['34000', '0.1'],
    ['110000000', '0.5'],
    ['500000000', '2'],
    ['7000000000', '2'],
  ])('a model of %s parameters asks for %s cores, unless told otherwise', async (parameters, cpu) => {
    const labels = { ...LABELS, [LABEL.parameters]: parameters };
    expect((await podOf('kubernetes', {}, labels)).containers[0]!.resources.requests['cpu']).toBe(cpu);
    const { resources, env } = (await podOf('kubernetes', { cpus: 3.5 }, labels)).containers[0]!;
    expect(resources.requests['cpu']).toBe('3.5');
    expect(env).toContainEqual({ name: 'THREADS', value: '4' });
  });

  test('without figures sets no limit and says so', async () => {
    const labels = { ...LABELS, [LABEL.figures]: '' };
    const { resources } = (await podOf('kubernetes', {}, labels)).containers[0]!;
    expect(resources).toEqual({ requests: { cpu: '2' }, limits: {} });
    expect((await manifestOf('kubernetes', {}, labels)).notes.join()).toContain('--memory sets one');
    const given = await podOf('kubernetes', { memory: 2 ** 31 }, labels);
    expect(given.containers[0]!.resources.limits).toEqual({ memory: '2048Mi' });
  });

  test('fetches the weights first where the image lacks them, and only then', async () => {
    const pod = await podOf('kubernetes', { hfToken: true }, UNBAKED);
    expect(pod.initContainers).toMatchObject([{ args: ['fetch'] }]);
    const places = pod.initContainers![0]!.volumeMounts.map(({ mountPath }) => mountPath);
    expect(places).toEqual(['/tmp', '/run/secrets/slipway', '/server/model']);
    expect((await podOf('kubernetes')).initContainers).toBeUndefined();
    expect((await podOf('kubernetes')).volumes.map(({ name }) => name)).toEqual(['tmp', 'secrets']);
  });

  test('with Knative the download is part of the start, and the port is Knative’s', async () => {
    const { containers, initContainers } = await podOf('knative', {}, UNBAKED);
    expect(initContainers).toBeUndefined();
    const { startupProbe, env } = containers[0]!;
    expect(startupProbe.failureThreshold * startupProbe.periodSeconds).toBe(1892);
    expect(env.map(({ name }) => name)).not.toContain('PORT');
  });

  test('asks for a GPU where the image computes on one', async () => {
    const labels = { ...LABELS, [LABEL.device]: 'cuda' };
    const { resources } = (await podOf('kubernetes', {}, labels)).containers[0]!;
    expect(resources.limits['nvidia.com/gpu']).toBe('1');
    expect((await manifestOf('quadlet', {}, labels)).text).toContain('AddDevice=nvidia.com/gpu=all');
  });

  test('for Vulkan, Compose and Podman give the kernel’s files of GPUs and the group that may open them', async () => {
    const labels = { ...LABELS, [LABEL.device]: 'vulkan' };
    const { resources } = (await podOf('kubernetes', {}, labels)).containers[0]!;
    expect(resources.limits['nvidia.com/gpu']).toBe('1');
    const compose = (await manifestOf('compose', {}, labels)).text;
    expect(compose).toContain('/dev/dri');
    expect(compose).toContain('${RENDER_GROUP:?');
    expect(compose).not.toContain('nvidia');
    const quadlet = (await manifestOf('quadlet', {}, labels)).text;
    expect(quadlet).toContain('AddDevice=/dev/dri\nGroupAdd=keep-groups');
  });

  test('names exactly the model, and labels it so that it is found', async () => {
    const { documents } = await manifestOf('kubernetes', { namespace: 'models' });
    expect(documents[1]).toMatchObject({
      kind: 'Service',
      metadata: {
        name: expect.stringMatching(/^org--model-1-5-x-[0-9a-f]{6}$/),
        namespace: 'models',
        labels: { [LABEL.model]: 'Org_Model-1.5_x' },
        annotations: {
          [LABEL.model]: 'Org/Model-1.5_x',
          [LABEL.task]: 'text-classification',
          [LABEL.parameters]: '66955010',
          [LABEL.memory]: '700000000',
        },
      },
    });
  });

  test('says how to make the secret, and holds none', async () => {
    const { text } = await manifestOf('kubernetes', { namespace: 'models', hfToken: true }, UNBAKED);
    expect(text.split('\n')[0]).toBe(
      '# once, with the values in files: kubectl create secret generic slipway --namespace models --from-file=key=./key --from-file=hf-token=./hf-token',
    );
    expect(parseAllDocuments(text).map((document) => document.errors)).toEqual([[], []]);
    expect(text).not.toMatch(/name: (?:KEY|HF_TOKEN)$/m);
  });

  test('a project for compose opens no port unless one is given', async () => {
    const closed = parse((await manifestOf('compose')).text) as { services: { server: object } };
    expect(closed.services.server).not.toHaveProperty('ports');
    expect(closed.services.server).toMatchObject({ read_only: true, cap_drop: ['ALL'], mem_limit: '704m' });
    const flags = { publish: '127.0.0.1:9000', env: { ODD: 'a$b ${c}' } };
    const open = parse((await manifestOf('compose', flags, UNBAKED)).text) as { services: object };
    expect(open.services).toMatchObject({
      weights: { command: ['fetch'], environment: { ODD: 'a$$b $${c}' } },
      server: {
        ports: ['127.0.0.1:9000:8080'],
        depends_on: { weights: { condition: 'service_completed_successfully' } },
      },
    });
  });

  test('a unit keeps what systemd would read as its own', async () => {
    const flags = { env: { ODD: '100% "a" \\n $x' }, publish: '8080' };
    const sections = unitOf((await manifestOf('quadlet', flags, UNBAKED)).text);
    expect(sections['Container']).toEqual(
      expect.arrayContaining([
        'Environment="ODD=100%% \\"a\\" \\\\n $x"',
        'Secret=slipway-key,uid=1000,gid=1000,mode=0400',
        'ReadOnly=true',
        'PublishPort=8080:8080',
        expect.stringMatching(/^Volume=org--model-1-5-x-[0-9a-f]{6}-model:\/server\/model:U$/),
      ]),
    );
    expect(Object.keys(sections)).toEqual(['Unit', 'Container', 'Service', 'Install']);
  });
});

/** Sections and their lines; every line is a comment, a heading, or `Key=value`. */
function unitOf(text: string): Record<string, string[]> {
  const sections: Record<string, string[]> = {};
  let current: string[] = [];
  for (const line of text.split('\n').filter((each) => each !== '' && !each.startsWith('#'))) {
    const heading = /^\[(\w+)\]$/.exec(line)?.[1];
    if (heading !== undefined) current = sections[heading] = [];
    else {
      expect(line).toMatch(/^[A-Z]\w+=/);
      current.push(line);
    }
  }
  return sections;
}

describe('builder manifest', () => {
  const IMAGE = 'slipway/org_model:latest';
  async function cli(args: string[], labels: Record<string, string> = LABELS) {
    const docker = fakeDocker();
    const about = { id: 'sha256:1', references: [IMAGE], size: 1, created: 0, platform: 'linux/amd64' };
    docker.images.set(IMAGE, {
      ...about,
      layers: [],
      env: [],
      entrypoint: [],
      command: [],
      settings: {},
      labels,
    });
    const [out, err] = [sink(), sink()];
    const deps = { config: readBuilderConfig({}), docker, packageRoot: '.', version: '1' };
    const code = await runCli(['manifest', ...args], { ...deps, stdout: out.stream, stderr: err.stream });
    return { code, stdout: out.text(), stderr: err.text() };
  }

  test('prints the manifest on stdout and what is to be done on stderr', async () => {
    const { code, stdout, stderr } = await cli([IMAGE, '--format', 'kubernetes']);
    expect(code).toBe(0);
    expect(parseAllDocuments(stdout).map((document) => (document.toJS() as { kind: string }).kind)).toEqual([
      'Deployment',
      'Service',
    ]);
    expect(stderr).toContain('kubectl create secret generic slipway');
  });

  test('writes a file, whole, and names it', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'slipway-manifest-'));
    const file = path.join(folder, 'a.yaml');
    const { stdout } = await cli([IMAGE, '--format', 'knative', '-o', file]);
    expect(stdout).toBe(`${file}\n`);
    expect(readFileSync(file, 'utf8')).toContain('serving.knative.dev/v1');
    expect(readdirSync(folder)).toEqual(['a.yaml']);
    const refused = await cli([IMAGE, '--format', 'knative', '-o', path.join(folder, 'no/a.yaml')]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('give another -o') });
  });

  test('gives one JSON document', async () => {
    const { stdout } = await cli([IMAGE, '--format', 'compose', '--json', '--quiet']);
    expect(JSON.parse(stdout)).toMatchObject({
      format: 'compose',
      model: 'Org/Model-1.5_x',
      documents: [{}],
    });
  });

  test.each([
    [['--format', 'helm'], 2, 'kubernetes, knative'],
    [[], 2, '--format'],
    [['--format', 'compose', '--namespace', 'x'], 2, '--namespace is for kubernetes and knative'],
    [['--format', 'knative', '--claim', 'x'], 2, '--claim is for kubernetes'],
    [['--format', 'kubernetes', '--claim', 'x'], 2, 'holds its weights'],
    [['--format', 'kubernetes', '--name', 'Not.Legal'], 2, 'lower-case'],
    [['--format', 'kubernetes', '--env', 'KEY=secret'], 2, 'KEY is a secret'],
    [
      ['--format', 'kubernetes', '--env', 'HF_ENDPOINT=https://u:p@mirror/'],
      2,
      'HF_ENDPOINT holds a password',
    ],
    [['--format', 'kubernetes', '--env', 'PORT=1'], 2, 'PORT is what the manifest itself sets'],
    [['--format', 'kubernetes', '--host', 'a b'], 2, 'host name'],
    [['--format', 'compose', '--publish', '0'], 2, 'expected a port'],
    [['--format', 'quadlet', '--env', 'A=b\nExecStartPre=/bin/evil'], 2, 'on one line'],
    [['--format', 'quadlet', '--replicas', '2'], 2, 'one container'],
  ])('%j is refused with what to do', async (args, code, told) => {
    const result = await cli([IMAGE, ...args]);
    expect(result).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(told) });
    expect(result.stderr).not.toContain('=secret');
  });

  test('reads a tarball, which may name no image', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'slipway-manifest-'));
    const layers = [await tarOf([])];
    const tarball = async (names: string[]) => {
      const name = path.join(folder, `${names.length}.tar`);
      writeFileSync(name, await tarOf(savedLayout({ names, labels: LABELS, layers }).entries));
      return name;
    };
    const named = await cli([await tarball(['a/b:1']), '--format', 'compose']);
    expect(parse(named.stdout)).toMatchObject({ services: { server: { image: 'a/b:1' } } });
    const unnamed = await cli([await tarball([]), '--format', 'compose']);
    expect(unnamed).toMatchObject({ code: 2, stderr: expect.stringContaining('give --image') });
  });

  test('of what is no model image there is none', async () => {
    expect(await cli(['no/such', '--format', 'compose'])).toMatchObject({ code: 1 });
    const evil = { ...LABELS, [LABEL.model]: 'a/b\n  evil: true' };
    expect(await cli([IMAGE, '--format', 'compose'], evil)).toMatchObject({ code: 3, stdout: '' });
    expect(await cli([IMAGE, '--format', 'compose'], {})).toMatchObject({ code: 3, stdout: '' });
  });
});
