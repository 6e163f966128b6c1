import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { describeWithDocker } from './support/engine.js';
import { docker, run } from './support/process.js';
import { openWorkshop, type Workshop } from './support/workshop.js';

interface Proof {
  passed: boolean;
  exact: boolean;
  steps: { step: string; passed: boolean; problems: string[] }[];
}

/** What the server of an image that phones home might do, in ways that other tools miss. */
const ATTEMPTS = {
  'dns updates.example.com': "fetch('https://updates.example.com/v1').catch(() => 0)",
  'tcp 192.0.2.7 port 443':
    "import('node:net').then((net) => net.connect(443, '192.0.2.7').on('error', () => 0))",
  'tcp 2001:db8::7 port 443':
    "import('node:net').then((net) => net.connect(443, '2001:db8::7').on('error', () => 0))",
  'tcp 127.0.0.1 port 3128':
    "import('node:net').then((net) => net.connect(3128, '127.0.0.1').on('error', () => 0))",
  'udp 192.0.2.53 port 53':
    "import('node:dgram').then((dgram) => dgram.createSocket('udp4').unref().send('x', 53, '192.0.2.53', () => 0))",
};

describeWithDocker('builder verify', () => {
  let workshop: Workshop;
  let sealed: string;
  beforeAll(async () => {
    workshop = await openWorkshop();
    sealed = await workshop.snapshot(workshop.hub.models.text.about.id);
  });
  afterAll(() => workshop.close());

  /** The sealed image with more lines to its Dockerfile. */
  async function derived(tag: string, ...lines: string[]): Promise<string> {
    const image = `${workshop.namespace}/derived:${tag}`;
    const build = `printf '%s\\n' "$@" | docker build --quiet --tag ${image} -`;
    const { code, stderr } = await run('sh', ['-c', build, 'sh', `FROM ${sealed}`, ...lines]);
    if (code !== 0) throw new Error(stderr);
    return image;
  }

  async function verify(image: string, ...flags: string[]) {
    // What the operator has set is nothing to the proof.
    const env = { HTTP_PROXY: 'http://192.0.2.1:3128', HF_TOKEN: 'hf_e2eSecretToken', KEY: '' };
    const { code, stdout, stderr } = await workshop.builder(['verify', image, '--json', ...flags], env);
    return { code, stderr, proof: stdout === '' ? undefined : (JSON.parse(stdout) as Proof) };
  }

  test('a sealed image is proven, to the byte, and nothing is left behind', async () => {
    workshop.hub.requests.length = 0;
    const { code, proof } = await verify(sealed, '--exact');
    expect(proof).toMatchObject({ passed: true, exact: true });
    expect(code).toBe(0);
    expect(workshop.hub.requests).toEqual([]);
    expect(await docker('ps', '--all', '--quiet', '--filter', `ancestor=${sealed}`)).toBe('');
  });

  test('every way out is counted and named: by name and address, TCP and UDP, both families, a proxy', async () => {
    const code = Buffer.from(Object.values(ATTEMPTS).join(';\n')).toString('base64');
    const image = await derived('attempts', `ENV NODE_OPTIONS=--import=data:text/javascript;base64,${code}`);
    const result = await verify(image);
    expect(result.code).toBe(1);
    const [config, files, network, golden] = result.proof!.steps;
    // It answers as it should, and every file is as it was sealed.
    expect([files!.passed, network!.passed, golden!.passed]).toEqual([true, false, true]);
    expect(config!.problems).toEqual(['added: variable NODE_OPTIONS']);
    expect(network!.problems).toEqual(expect.arrayContaining(Object.keys(ATTEMPTS)));
    expect(result.stderr).toMatch(/is not proven: config, network$/m);
  });

  test('a changed file, one more and one layer more are named', async () => {
    const image = await derived('changed', 'RUN echo "//" >> /server/main.mjs && touch /server/more');
    const { code, proof } = await verify(image, '--no-run');
    expect(code).toBe(1);
    expect(proof!.steps.find(({ step }) => step === 'files')!.problems).toEqual([
      expect.stringMatching(/^added: layer sha256:/),
      'changed: /server/main.mjs',
      'added: /server/more',
    ]);
  });

  test('an image that does not start fails with the reason', async () => {
    const { code, proof } = await verify(await derived('dead', 'ENV DEVICE=tpu'));
    expect(code).toBe(1);
    expect(proof!.steps.map(({ passed }) => passed)).toEqual([false, true, false, false]);
    expect(proof!.steps[3]!.problems).toEqual([expect.stringMatching(/ended with status 2/)]);
  });

  test('an image that is not sealed: exit 3 and the remedy', async () => {
    const image = await workshop.build(workshop.hub.models.text.about.id, '--bake');
    const { code, stderr, proof } = await verify(image);
    expect({ code, proof }).toEqual({ code: 3, proof: undefined });
    expect(stderr).toContain('builder snapshot');
  });

  test('stdout takes an export, and a file of it is proven without being loaded', async () => {
    const file = path.join(workshop.folder, 'piped.tar.gz');
    const pipe = `"$0" dist/builder/main.js export ${sealed} -o - --quiet > ${file}`;
    expect(await run('sh', ['-c', pipe, process.execPath])).toMatchObject({ code: 0, stderr: '' });
    const { code, proof } = await verify(file, '--no-run');
    expect({ code, passed: proof!.passed }).toEqual({ code: 0, passed: true });
    expect((await readdir(workshop.folder)).filter((name) => name.startsWith('piped'))).toEqual([
      'piped.tar.gz',
    ]);
  });
});
