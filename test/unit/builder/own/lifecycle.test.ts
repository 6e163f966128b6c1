import { runCli } from '../../../../builder/cli.js';
import { readBuilderConfig } from '../../../../builder/config.js';
import { isMade, madeBy, MADE_LABEL, type MadeContainer } from '../../../../builder/docker/made.js';
import { fakeDocker } from '../../../fakes/docker.js';
import { sink } from '../support.js';

const MODEL = 'io.slipway.model';

function container(name: string, more: Partial<MadeContainer> = {}): MadeContainer {
  return {
    ...{ id: `${name}-id`, name, image: 'slipway/org_model:latest', imageId: 'sha256:model' },
    ...{ state: 'running', created: Date.now() / 1000 },
    ...more,
    labels: { [MADE_LABEL]: name, [MODEL]: 'org/model', ...more.labels },
  };
}

/** An engine with images of ours, of somebody else, and of somebody else over ours. */
function engine() {
  const docker = fakeDocker();
  const image = (id: string, references: string[], labels: Record<string, string>, layers: string[]) => {
    const about = { id, references, labels, size: 1e6, created: 0, layers };
    const rest = { platform: 'linux/amd64', env: [], entrypoint: [], command: [], settings: {} };
    docker.images.set(references[0] ?? id, { ...about, ...rest });
  };
  const model = { [MODEL]: 'org/model', 'io.slipway.runtime': 'text-cpu' };
  const runtime = { 'io.slipway.runtime': 'text-cpu' };
  const label = (name: string) => `/bin/sh -c #(nop)  LABEL a=b ${name}=x`;
  const started = ['CMD []', 'ENTRYPOINT ["node"]', label('io.slipway.runtime')];
  image('sha256:model', ['slipway/org_model:latest'], model, ['base', 'text']);
  image('sha256:old', [], model, ['base', 'text']);
  image('sha256:used', ['slipway/runtime:text'], runtime, ['base', 'text']);
  image('sha256:unused', ['slipway/runtime:vision'], runtime, ['base', 'vision']);
  image('sha256:derived', [], model, ['base', 'text', 'theirs']);
  image('sha256:committed', ['theirs:latest'], model, ['base', 'text', 'theirs']);
  image('sha256:foreign', [], {}, ['other']);
  for (const id of ['sha256:model', 'sha256:old']) docker.histories.set(id, [label(MODEL)]);
  for (const id of ['sha256:used', 'sha256:unused']) docker.histories.set(id, started);
  docker.histories.set('sha256:derived', ['RUN curl', label(MODEL)]);
  docker.histories.set('sha256:committed', ['node /server/main.mjs', label(MODEL)]);
  docker.there = [
    container('slipway-1'),
    container('slipway-2', {
      state: 'exited',
      labels: { [MODEL]: 'org/other' },
      image: 'slipway/org_other:latest',
    }),
    container('slipway-3', {
      created: 0,
      labels: { 'io.slipway.temporary': 'true' },
      imageId: 'sha256:x',
      image: 'x',
    }),
  ];
  return docker;
}

async function cli(docker: ReturnType<typeof engine>, ...args: string[]) {
  const [out, err] = [sink(), sink()];
  const deps = { config: readBuilderConfig({}), docker, packageRoot: '.', version: '1' };
  const code = await runCli(args, { ...deps, stdout: out.stream, stderr: err.stream });
  return { code, stdout: out.text(), stderr: err.text() };
}

const names = (docker: ReturnType<typeof engine>) => docker.there.map(({ name }) => name);

describe('which containers are ours', () => {
  test('only what has its own name in the label: a committed image gives the label on', () => {
    const { name, labels } = madeBy('slipway-7', false);
    expect(isMade({ name, labels })).toBe(true);
    expect(isMade({ name: 'theirs', labels })).toBe(false);
    expect(isMade({ name: '', labels: { [MADE_LABEL]: '' } })).toBe(false);
    expect(isMade({ name: 'theirs', labels: {} })).toBe(false);
  });
});

describe('builder logs', () => {
  test.each(['slipway-2', 'org/other', 'slipway/org_other'])('%s', async (word) => {
    expect(await cli(engine(), 'logs', word)).toEqual({
      code: 0,
      stdout: 'log of slipway-2-id\n',
      stderr: '',
    });
  });

  test('as one document', async () => {
    const { stdout } = await cli(engine(), 'logs', 'slipway-1', '--json');
    expect(JSON.parse(stdout)).toEqual({ container: 'slipway-1', log: 'log of slipway-1-id\n' });
  });

  test.each([
    [
      ['theirs'],
      1,
      'theirs is no container that builder has started; there are: slipway-1, slipway-2, slipway-3',
    ],
    [
      ['org/model'],
      1,
      'org/model means several containers: slipway-1 (running), slipway-3 (running); give a name',
    ],
    [['slipway-1', '--json', '--follow'], 2, 'leave out --json'],
    [['slipway-1', '--tail', 'many'], 2, 'expected a number of lines'],
  ])('%j', async (args, expected, message) => {
    const { code, stderr } = await cli(engine(), 'logs', ...args);
    expect(code).toBe(expected);
    expect(stderr).toContain(message);
  });
});

describe('builder stop', () => {
  test('what is named, and nothing else', async () => {
    const docker = engine();
    expect(await cli(docker, 'stop', 'slipway-1', '--quiet')).toMatchObject({
      code: 0,
      stdout: 'slipway-1\n',
    });
    expect(docker.there.map(({ state }) => state)).toEqual(['exited', 'exited', 'running']);
  });

  test('all; a dry run stops none; no name is wrong usage', async () => {
    const docker = engine();
    const dry = await cli(docker, 'stop', '--all', '--dry-run', '--json');
    expect(JSON.parse(dry.stdout)).toEqual({ stopped: ['slipway-1', 'slipway-3'], dryRun: true });
    expect(docker.there[0]!.state).toBe('running');
    await cli(docker, 'stop', '--all');
    expect(docker.there.every(({ state }) => state === 'exited')).toBe(true);
    expect((await cli(docker, 'stop')).code).toBe(2);
  });
});

describe('builder rm', () => {
  test('a container that has ended; one that runs only with --force', async () => {
    const docker = engine();
    expect(await cli(docker, 'rm', 'org/other')).toMatchObject({ code: 0, stdout: 'slipway-2\n' });
    const refused = await cli(docker, 'rm', 'slipway-1');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('still running') });
    expect(names(docker)).toEqual(['slipway-1', 'slipway-3']);
    expect((await cli(docker, 'rm', 'slipway-1', '--force', '--dry-run')).code).toBe(0);
    expect(names(docker)).toContain('slipway-1');
    await cli(docker, 'rm', 'slipway-1', '--force', '--quiet');
    expect(names(docker)).toEqual(['slipway-3']);
  });

  test('an image by its name; not one that somebody has made of ours; all words or none', async () => {
    const docker = engine();
    const { code, stderr } = await cli(docker, 'rm', 'slipway/org_model:latest', 'theirs:latest');
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: 'builder: theirs:latest is no image that builder has made: "docker rmi" removes it\n',
    });
    expect(docker.images.has('slipway/org_model:latest')).toBe(true);
    const done = await cli(docker, 'rm', 'slipway/org_model:latest', '--json');
    expect(JSON.parse(done.stdout)).toEqual({
      removed: [{ kind: 'image', name: 'slipway/org_model:latest' }],
      dryRun: false,
    });
    expect(docker.images.has('slipway/org_model:latest')).toBe(false);
    expect((await cli(docker, 'rm', 'nothing:here')).code).toBe(1);
  });
});

describe('builder prune', () => {
  const found = async (docker: ReturnType<typeof engine>, ...flags: string[]) => {
    const { stdout } = await cli(docker, 'prune', '--json', ...flags);
    return (JSON.parse(stdout) as { found: { name: string }[] }).found.map(({ name }) => name);
  };

  test('without --force it changes nothing', async () => {
    const docker = engine();
    const { stdout, stderr } = await cli(docker, 'prune');
    expect(stdout).toMatch(
      /^KIND +NAME +SIZE\ncontainer +slipway-2\ncontainer +slipway-3\nimage +sha256:old +1\.0 MB\n$/,
    );
    expect(stderr).toBe('nothing is removed without --force\n');
    expect([docker.there.length, docker.images.size]).toEqual([3, 7]);
  });

  test('what has ended, what was left running, and what has lost its name; nothing of others', async () => {
    const docker = engine();
    expect(await found(docker, '--force')).toEqual(['slipway-2', 'slipway-3', 'sha256:old']);
    expect(names(docker)).toEqual(['slipway-1']);
    expect([...docker.images.keys()]).toEqual([
      ...['slipway/org_model:latest', 'slipway/runtime:text', 'slipway/runtime:vision'],
      ...['sha256:derived', 'theirs:latest', 'sha256:foreign'],
    ]);
    expect((await cli(docker, 'prune', '--force')).stdout).toBe('nothing to remove\n');
  });

  test('runtime images that nothing is made of, when asked', async () => {
    expect(await found(engine(), '--runtimes')).toContain('slipway/runtime:vision');
    expect(await found(engine(), '--runtimes')).not.toContain('slipway/runtime:text');
  });
});
