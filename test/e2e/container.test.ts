import { createHash } from 'node:crypto';
import { describeWithDocker } from './support/engine.js';
import type { TestContainer } from './support/container.js';
import { docker, run } from './support/process.js';
import { openWorkshop, type Workshop } from './support/workshop.js';
import type { ZooModel } from '../parity/zoo.js';
import { difference } from '../parity/difference.js';

/** Its first case, asked of the container, gives the reference answer. */
async function expectReference(container: TestContainer, { cases }: ZooModel): Promise<void> {
  const [{ request, expect: wanted, compare }] = cases as [ZooModel['cases'][number]];
  const { status, envelope } = await container.run(request);
  expect({ status, error: envelope.error }).toEqual({ status: 200, error: null });
  expect(await difference(envelope.output, wanted, compare)).toBeNull();
}

/** Kills the engine process with a signal, from inside; the server is another process. */
const signalEngine = (id: string, signal: string) =>
  docker(
    ...['exec', '--user', '0', id, 'sh', '-c'],
    `for p in /proc/[0-9]*; do if grep -q 'chil[d].mjs' $p/cmdline; then kill -${signal} "\${p#/proc/}"; fi; done`,
  );

describeWithDocker('a container whose weights come from the hub', () => {
  let workshop: Workshop;
  let container: TestContainer;
  let image: string;
  beforeAll(async () => {
    workshop = await openWorkshop();
    image = await workshop.build(workshop.hub.models.stream.about.id);
    container = await workshop.start(image, workshop.hub.flags);
    await container.ready();
  });
  afterAll(() => workshop.close());

  test('downloads, then answers as the reference does', async () => {
    expect(workshop.hub.downloads()).toBeGreaterThan(0);
    await expectReference(container, workshop.hub.models.stream);
  });

  test('describes itself by the document whose digest its image carries', async () => {
    const document = await (await container.request('/openapi.json')).text();
    const label = '{{index .Config.Labels "io.slipway.openapi"}}';
    const digest = await docker('inspect', '--format', label, container.id);
    expect(createHash('sha256').update(document).digest('hex')).toBe(digest);
  });

  test('streams the same text as it answers at once', async () => {
    const body = { text: 'Once upon a time', params: { max_new_tokens: 12, return_full_text: false } };
    const plain = await container.run(body);
    const streamed = await container.request('/run', { ...body, stream: true });
    expect(streamed.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(await streamed.text()).toBe(plain.envelope.output);
  });

  test('without a place for the weights, /health says what is wrong and what to do', async () => {
    const flags = [...workshop.hub.flags, '--read-only', '--tmpfs', '/tmp'];
    const stuck = await workshop.start(image, flags);
    await expect(stuck.ready(3000)).rejects.toThrow(/read-only/);
    const { error } = (await (await stuck.request('/health')).json()) as { error: string };
    expect(error).toMatch(
      /^failed: can't write \/server\/model.*read-only; mount a writable volume.*--bake$/,
    );
  });

  test('neither process runs as root', async () => {
    const uids = await docker('top', container.id, '-o', 'pid,uid,args');
    const rows = uids.split('\n').slice(1);
    expect(rows.length).toBeGreaterThanOrEqual(2);
    expect(rows.filter((row) => /^\s*\d+\s+(?:0|root)\s/.test(row))).toEqual([]);
  });

  test('the engine dies during a request: that caller gets 503 in the envelope, the next one an answer', async () => {
    await signalEngine(container.id, 'STOP');
    const caught = container.run({ text: 'Once' });
    await new Promise((resolve) => setTimeout(resolve, 500));
    await signalEngine(container.id, 'KILL');
    const { status, envelope } = await caught;
    expect(status).toBe(503);
    expect(envelope).toEqual({ error: expect.any(String), output: null });
    await expectReference(container, workshop.hub.models.stream);
  });

  test('stops on SIGTERM by itself, and starts again without a request to the hub', async () => {
    await container.stop();
    expect(await docker('inspect', '--format', '{{.State.ExitCode}}', container.id)).toBe('0');
    workshop.hub.requests.length = 0;
    await container.start();
    await container.ready();
    await expectReference(container, workshop.hub.models.stream);
    expect(workshop.hub.requests).toEqual([]);
  });

  test('the health check of the image passes while the server is ready, and fails while it is not', async () => {
    await docker('exec', container.id, 'node', '/server/healthcheck.mjs');
    const elsewhere = ['exec', '--env', 'PORT=9', container.id, 'node', '/server/healthcheck.mjs'];
    await expect(docker(...elsewhere)).rejects.toThrow();
    const test = await docker('inspect', '--format', '{{json .Config.Healthcheck.Test}}', container.id);
    expect(JSON.parse(test)).toEqual(['CMD', 'node', '/server/healthcheck.mjs']);
  });

  test('weights in a folder of the host: made by Docker as root, filled by the server', async () => {
    const { about } = workshop.hub.models.stream;
    const image = `${workshop.namespace}/${about.id.replace('/', '_')}`;
    const flags = ['--volume', `${workshop.folder}/weights:/server/model`, ...workshop.hub.flags];
    await (await workshop.start(image, flags)).ready();
    workshop.hub.requests.length = 0;
    await (await workshop.start(image, flags)).ready();
    expect(workshop.hub.requests).toEqual([]);
  });
});

describeWithDocker('settings that are wrong', () => {
  let workshop: Workshop;
  let image: string;
  beforeAll(async () => {
    workshop = await openWorkshop();
    image = await workshop.build(workshop.hub.models.text.about.id, '--bake');
  });
  afterAll(() => workshop.close());

  test.each([
    ['no KEY', [], /KEY/],
    ['an empty KEY', ['KEY='], /KEY/],
    ['a PORT that is none', ['KEY=x', 'PORT=99999'], /PORT/],
    ['a DEVICE that is none', ['KEY=x', 'DEVICE=tpu'], /DEVICE/],
    ['cuda without a GPU', ['KEY=x', 'DEVICE=cuda'], /cuda/i],
  ])('%s: one line that names it, and the end', async (_, settings, named) => {
    const env = settings.flatMap((setting) => ['--env', setting]);
    const { code, stdout, stderr } = await run('docker', ['run', '--rm', ...env, image]);
    expect(code).not.toBe(0);
    const complaint = `${stdout}${stderr}`
      .trim()
      .split('\n')
      .filter((line) => !line.startsWith('{'));
    expect(complaint).toEqual([expect.stringMatching(named)]);
  });
});

describeWithDocker('an image that holds its weights', () => {
  let workshop: Workshop;
  let image: string;
  let network: string;
  beforeAll(async () => {
    workshop = await openWorkshop();
    image = await workshop.build(workshop.hub.models.image.about.id, '--bake');
    network = `${workshop.namespace}-internal`;
    await docker('network', 'create', '--internal', network);
  });
  afterAll(async () => {
    await workshop.close();
    await docker('network', 'rm', network);
  });

  test.each([
    ['as it is', []],
    ['as another user', ['--user', '1234']],
    ['on a read-only root', ['--read-only', '--tmpfs', '/tmp']],
    ['without a capability', ['--cap-drop', 'ALL']],
    ['with all of these', ['--user', '1234', '--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL']],
  ])('answers without a network, %s', async (_, flags) => {
    workshop.hub.requests.length = 0;
    const container = await workshop.start(image, ['--network', network, ...flags]);
    const started = performance.now();
    await container.ready(20_000);
    // No wait for a name server that never answers.
    expect(performance.now() - started).toBeLessThan(15_000);
    await expectReference(container, workshop.hub.models.image);
    expect(workshop.hub.requests).toEqual([]);
    expect(await container.log()).not.toMatch(/verifies the files/);
  });

  test('an encoder answers where there is nowhere to write at all', async () => {
    const { text } = workshop.hub.models;
    const encoder = await workshop.build(text.about.id, '--bake');
    const container = await workshop.start(encoder, ['--network', network, '--read-only']);
    await container.ready(20_000);
    await expectReference(container, text);
  });

  // Node.js keeps half precision in another way from version 24 on, which images have and this process may not.
  test('a cache in half precision goes back into its graph', async () => {
    const { half } = workshop.hub.models;
    const decoder = await workshop.build(half.about.id, '--bake');
    const container = await workshop.start(decoder, ['--network', network]);
    await container.ready(20_000);
    await expectReference(container, half);
  });
});
