import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describeWithDocker } from './support/engine.js';
import { docker, run } from './support/process.js';
import { foundInImage } from './support/tar-scan.js';
import { openWorkshop, type Workshop } from './support/workshop.js';
import { NOTICES } from './support/zoo-hub.js';

const cat = (image: string, file: string) => docker('run', '--rm', '--entrypoint', 'cat', image, file);

describeWithDocker('a sealed image', () => {
  let workshop: Workshop;
  let image: string;
  beforeAll(async () => {
    workshop = await openWorkshop();
    image = await workshop.snapshot(workshop.hub.models.text.about.id);
  });
  afterAll(() => workshop.close());

  test('has its names and labels; nothing unsealed is left under a name', async () => {
    const { id } = workshop.hub.models.text.about;
    expect(image).toBe(`${workshop.namespace}/${id.replace('/', '_')}:sealed`);
    const names = await docker('images', '--format', '{{.Tag}}', image.replace(':sealed', ''));
    const commit = workshop.hub.commitOf(id).slice(0, 12);
    expect(names.split('\n').sort()).toEqual(['sealed', `sealed-${commit}`]);
    const [{ Config }] = JSON.parse(await docker('inspect', image)) as [{ Config: { Labels: object } }];
    const manifest = await cat(image, '/server/sealed/manifest.json');
    expect(Config.Labels).toMatchObject({
      'io.slipway.sealed': 'true',
      'io.slipway.baked': 'true',
      'io.slipway.manifest': createHash('sha256').update(`${manifest}\n`).digest('hex'),
    });
  });

  test('says in its labels what running it has taken', async () => {
    const { stdout } = await workshop.builder(['list', '--json']);
    const rows = JSON.parse(stdout) as {
      image: string;
      figures: string;
      parameters: number;
      memoryBytes: number;
      loadSeconds: number;
    }[];
    const row = rows.find((each) => each.image === image)!;
    expect(row).toMatchObject({ figures: 'measured', parameters: 33_828 });
    // Two Node.js processes with ONNX Runtime and a model of a few kilobytes; the kernel's cache is not in it.
    expect(row.memoryBytes).toBeGreaterThan(100e6);
    expect(row.memoryBytes).toBeLessThan(400e6);
    expect(row.loadSeconds).toBeGreaterThan(0);
  });

  test('its manifest names every file that is ours, with its hash', async () => {
    const manifest = JSON.parse(await cat(image, '/server/sealed/manifest.json')) as {
      files: { path: string; sha256: string }[];
    };
    const list = 'find /server /model.json -type f ! -path /server/sealed/manifest.json -exec sha256sum {} +';
    const there = await docker('run', '--rm', '--entrypoint', 'sh', image, '-c', list);
    const wanted = manifest.files.map((file) => `${file.sha256}  ${file.path}`);
    expect(wanted.sort()).toEqual(there.split('\n').sort());
  });

  test('licence and model card travel with the weights, and the bill of materials lists them all', async () => {
    for (const [name, text] of Object.entries(NOTICES))
      expect(`${await cat(image, `/server/sealed/${name}`)}\n`).toBe(text);
    const { components } = JSON.parse(await cat(image, '/server/sealed/sbom.cdx.json')) as {
      components: {
        type: string;
        name: string;
        purl?: string;
        hashes?: [{ content: string }];
        licenses?: unknown;
      }[];
    };
    const spec = JSON.parse(await cat(image, '/model.json')) as {
      files: { path: string; sha256?: string }[];
      commit: string;
    };
    const files = components.filter(({ type }) => type === 'file');
    expect(files).toHaveLength(spec.files.length);
    for (const file of spec.files) {
      const component = files.find(({ name }) => name.endsWith(`/${spec.commit}/${file.path}`))!;
      expect(component).toMatchObject({
        version: spec.commit,
        licenses: [{ license: { id: 'Apache-2.0' } }],
      });
      if (file.sha256) expect(component.hashes![0].content).toBe(file.sha256);
    }
    const purls = components.flatMap(({ purl }) => purl ?? []);
    expect(purls).toContainEqual(expect.stringMatching(/^pkg:npm\/onnxruntime-node@/));
    const listed = 'dpkg-query -W -f "\\${Package} \\${Version} \\${Architecture}\\n"';
    const installed = (await docker('run', '--rm', '--entrypoint', 'sh', image, '-c', listed)).split('\n');
    const expected = installed.map((line) => {
      const [name, version, arch] = line.split(' ') as [string, string, string];
      return expect.stringContaining(
        `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${arch}&distro=debian-12`,
      ) as unknown;
    });
    const debian = purls.filter((purl) => purl.startsWith('pkg:deb/'));
    expect(debian).toHaveLength(installed.length);
    expect(debian).toEqual(expect.arrayContaining(expected));
    const node = await docker('run', '--rm', '--entrypoint', 'node', image, '--version');
    expect(purls).toContain(`pkg:generic/node@${node.slice(1)}`);
    expect(components.find(({ type }) => type === 'operating-system')).toMatchObject({ name: 'debian' });
  });

  test('knows that it is sealed, asks nobody, and gives its golden answer to the byte', async () => {
    workshop.hub.requests.length = 0;
    const asking = ['--env', 'HF_HUB_OFFLINE=0', '--env', `UPDATE_URL=http://hub.test:${workshop.hub.port}/`];
    const container = await workshop.start(image, [...workshop.hub.flags, ...asking]);
    await container.ready();
    const status = (await (await container.request('/status')).json()) as { output: object };
    expect(status.output).toMatchObject({
      ...{ sealed: true, offline: true, state: 'ready' },
      weights: { checked: 'verified', when: 'first' },
    });
    const golden = JSON.parse(await cat(image, '/server/sealed/golden.json')) as {
      request: object;
      sha256: string;
    };
    const answer = await container.request('/run', golden.request);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(golden.sha256);
    expect(workshop.hub.requests).toEqual([]);
  });

  test('weights that were changed are neither used nor fetched again', async () => {
    workshop.hub.requests.length = 0;
    const id = await docker('create', '--env', 'KEY=x', ...workshop.hub.flags, image);
    try {
      const weights = await docker(
        'run',
        '--rm',
        '--entrypoint',
        'sh',
        image,
        '-c',
        'find /server/model -name model.onnx',
      );
      const file = path.join(workshop.folder, 'model.onnx');
      await docker('cp', `${id}:${weights}`, file);
      const bytes = await readFile(file);
      bytes[bytes.length - 9]! ^= 1;
      await writeFile(file, bytes);
      await docker('cp', file, `${id}:${weights}`);
      await docker('start', id);
      for (let tries = 0; !(await docker('logs', id)).includes('not loaded'); tries++) {
        if (tries > 50) throw new Error(await docker('logs', id));
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      expect(await docker('logs', id)).toMatch(
        /this image is sealed, and its weights are not what was sealed/,
      );
      expect(workshop.hub.requests).toEqual([]);
    } finally {
      await docker('rm', '--force', '--volumes', id);
    }
  });

  test('weights that were changed by a build on top, time stamp and all, are found by their hash', async () => {
    const change = [
      'const { readdirSync, readFileSync, writeFileSync, utimesSync } = require("fs");',
      'const name = readdirSync("/server/model", { recursive: true }).find((each) => each.endsWith("model.onnx"));',
      'const file = "/server/model/" + name; const bytes = readFileSync(file); bytes[bytes.length - 9] ^= 1;',
      'writeFileSync(file, bytes); utimesSync(file, 1577836800, 1577836800);',
    ].join(' ');
    const altered = `${workshop.namespace}/altered:test`;
    const lines = `printf '%s\n' "$@" | docker build --quiet --tag ${altered} -`;
    const dockerfile = [`FROM ${image}`, `RUN ${JSON.stringify(['node', '--eval', change])}`];
    expect(await run('sh', ['-c', lines, 'sh', ...dockerfile])).toMatchObject({ code: 0 });
    for (const when of ['auto', 'background']) {
      const container = await workshop.start(altered, ['--env', `CHECK_WEIGHTS=${when}`]);
      let output: Record<string, unknown> = {};
      for (let tries = 0; tries < 100 && output['state'] !== 'failed'; tries++) {
        await new Promise((resolve) => setTimeout(resolve, 200));
        const answer = await container.request('/status').catch(() => undefined);
        if (answer) ({ output } = (await answer.json()) as { output: Record<string, unknown> });
      }
      expect(output).toMatchObject({ state: 'failed', weights: { checked: 'failed' } });
      expect((await container.request('/health')).status).toBe(503);
      const answer = await container.request('/run', { text: 'x' });
      expect([answer.status, await answer.json()]).toEqual([
        503,
        { error: expect.stringMatching(/its weights are not what was sealed/), output: null },
      ]);
    }
  });

  test('a second snapshot of the same inputs is the same image', async () => {
    const before = await docker('inspect', '--format', '{{.Id}}', image);
    await workshop.snapshot(workshop.hub.models.text.about.id);
    expect(await docker('inspect', '--format', '{{.Id}}', image)).toBe(before);
  });

  test('an image that was changed under the name of a sealed one is neither taken nor signed', async () => {
    const id = await docker('inspect', '--format', '{{.Id}}', image);
    const lines = `printf 'FROM ${image}\\nENV NODE_OPTIONS=--import=/x\\n' | docker build --quiet --tag ${image} -`;
    expect(await run('sh', ['-c', lines])).toMatchObject({ code: 0 });
    const data = path.join(workshop.folder, 'data');
    const key = path.join(workshop.folder, 'release');
    expect(await workshop.builder(['keygen', key])).toMatchObject({ code: 0 });
    try {
      const given = ['snapshot', workshop.hub.models.text.about.id, '--sign-key', `${key}.key`];
      const { code, stdout, stderr } = await workshop.builder(given, { XDG_DATA_HOME: data });
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/added: variable NODE_OPTIONS[\s\S]*remove what is there with "docker rmi /);
      expect(existsSync(data)).toBe(false);
    } finally {
      await docker('tag', id, image);
    }
  });
});

const SECRETS = { KEY: 'k3y-of-the-operator-7Qz', HF_TOKEN: 'hf_tokenOfTheOperator9Xw' };

describeWithDocker('secrets of the operator are nowhere in a sealed image', () => {
  let workshop: Workshop;
  beforeAll(async () => void (workshop = await openWorkshop()));
  afterAll(() => workshop.close());
  // Else the next snapshot of the same inputs would be the image that is there.
  afterEach(async () => {
    const list = await docker('images', '--format', '{{.Repository}}:{{.Tag}}', `${workshop.namespace}/*`);
    const mine = list.split('\n').filter((name) => /:sealed|\/committed:/.test(name));
    if (mine.length > 0) await docker('rmi', '--force', ...mine);
  });

  const expectNone = async (image: string) => {
    expect(await foundInImage(image, Object.values(SECRETS))).toEqual([]);
  };
  const text = () => workshop.hub.models.text.about.id;

  /** A container that got both secrets, committed once it was ready. */
  async function committed(...changes: string[]): Promise<string> {
    const built = await workshop.build(text());
    const env = Object.entries(SECRETS).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
    const container = await workshop.start(built, [...workshop.hub.flags, ...env]);
    await container.ready();
    await container.stop();
    const name = `${workshop.namespace}/committed:test`;
    await docker('commit', ...changes.flatMap((change) => ['--change', change]), container.id, name);
    expect(await foundInImage(name, Object.values(SECRETS))).not.toEqual([]);
    return name;
  }

  test('given in the environment', async () => {
    const image = await workshop.snapshot(text(), SECRETS);
    const sent = workshop.hub.requests.map(({ headers }) => headers.authorization);
    expect(sent).toContain(`Bearer ${SECRETS.HF_TOKEN}`);
    await expectNone(image);
  });

  test('given as files', async () => {
    const env: Record<string, string> = {};
    for (const [name, value] of Object.entries(SECRETS)) {
      env[`${name}_FILE`] = path.join(workshop.folder, name);
      await writeFile(env[`${name}_FILE`]!, value);
    }
    await expectNone(await workshop.snapshot(text(), env));
  });

  test('kept by the commit that is sealed', async () => {
    await expectNone(await workshop.snapshot(await committed()));
  });

  test('kept by the history of the commit, although its environment was emptied', async () => {
    await expectNone(await workshop.snapshot(await committed('ENV KEY=', 'ENV HF_TOKEN=')));
  });

  test('lying in files beside the weights', async () => {
    const from = await mkdtemp(path.join(workshop.folder, 'from-'));
    await cp(workshop.hub.models.text.repo, from, { recursive: true });
    await writeFile(
      path.join(from, '.env'),
      Object.entries(SECRETS)
        .map((pair) => pair.join('='))
        .join('\n'),
    );
    await writeFile(path.join(from, 'token'), SECRETS.HF_TOKEN);
    const { code, stdout, stderr } = await workshop.builder([
      'snapshot',
      text(),
      '--from',
      from,
      '--task',
      'text-classification',
    ]);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    await expectNone(stdout.trim());
  });
});

describeWithDocker('snapshot of an image', () => {
  let workshop: Workshop;
  beforeAll(async () => void (workshop = await openWorkshop()));
  afterAll(() => workshop.close());

  test('takes commit and weights from the image: no hub is needed', async () => {
    const { id } = workshop.hub.models.text.about;
    const baked = await workshop.build(id, '--bake');
    const empty = path.join(workshop.folder, 'another-cache');
    const flags = ['--namespace', workshop.namespace, '--out', path.join(workshop.folder, 'images')];
    const alone = ['--cache', empty, '--hub', 'http://127.0.0.1:9', '--json'];
    const { code, stdout, stderr } = await run(process.execPath, [
      'dist/builder/main.js',
      'snapshot',
      baked,
      ...flags,
      ...alone,
    ]);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      model: id,
      commit: workshop.hub.commitOf(id),
      notices: [],
      sealed: true,
    });
    expect(stderr).toMatch(/without licence text and model card/);
  });

  test('a name that is neither an image nor a model: exit code 2, and what it should be', async () => {
    const { code, stderr } = await workshop.builder(['snapshot', 'nothing-like-it:latest']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/neither an image .* nor a model id/);
  });
});
