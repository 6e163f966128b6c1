import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { dockerodeDocker } from '../../../../builder/docker/dockerode.js';
import { BuilderError } from '../../../../builder/exit.js';
import { tarStream } from '../../../../builder/images/tar.js';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server | undefined;
afterEach(() => new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve())));

/** An engine on a socket of its own that answers every request with `handler`, once the request has been read. */
async function engineWith(handler: Handler) {
  const socketPath = path.join(await mkdtemp(path.join(tmpdir(), 'slipway-engine-')), 's');
  server = createServer((request, response) => {
    request.resume().once('end', () => handler(request, response));
  });
  await new Promise<void>((resolve) => server!.listen(socketPath, resolve));
  return dockerodeDocker({ socketPath });
}

const context = () => tarStream([{ path: 'Dockerfile', content: 'FROM x' }]);
const lines = (...events: object[]) => events.map((event) => `${JSON.stringify(event)}\n`).join('');

describe('build', () => {
  test('gives the lines of the build and asks for every tag', async () => {
    let url = '';
    const docker = await engineWith((request, response) => {
      url = request.url!;
      response.end(lines({ stream: 'Step 1/1 : FROM x\n' }, { stream: ' ---> 1\nSuccess\n' }));
    });
    const seen: string[] = [];
    await docker.buildImage(context(), { references: ['a:1', 'a:2'] }, (line) => seen.push(line));
    expect(seen).toEqual(['Step 1/1 : FROM x', ' ---> 1', 'Success']);
    const query = new URL(url, 'http://x').searchParams;
    expect(query.getAll('t')).toEqual(['a:1', 'a:2']);
    expect(query.has('platform')).toBe(false);
  });

  test('a failed step in a stream with status 200 fails', async () => {
    const docker = await engineWith((_, response) =>
      response.end(
        lines({ stream: 'Step 1' }, { errorDetail: { message: 'no such base' }, error: 'no such base' }),
      ),
    );
    const build = docker.buildImage(context(), { references: ['a:1'] }, () => undefined);
    await expect(build).rejects.toMatchObject({
      exit: 'failure',
      message: 'docker build failed: no such base',
    });
  });

  test('a context that breaks fails, and does not hang', async () => {
    const docker = await engineWith(() => undefined);
    const broken = tarStream([{ path: 'x', content: { file: '/nonexistent', size: 1 } }]);
    const build = docker.buildImage(broken, { references: ['a:1'] }, () => undefined);
    await expect(build).rejects.toMatchObject({
      exit: 'failure',
      message: expect.stringMatching(/context can't be read/),
    });
  });
});

test('an image that is not there is undefined, another refusal is an error in the words of the engine', async () => {
  let status = 404;
  const docker = await engineWith((_, response) => {
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end('{"message":"words of the engine"}');
  });
  expect(await docker.inspectImage('a')).toBeUndefined();
  status = 500;
  await expect(docker.inspectImage('a')).rejects.toMatchObject({
    exit: 'failure',
    message: 'Docker: words of the engine',
  });
});

test('no engine: the exit code for it, and what to do', async () => {
  const docker = dockerodeDocker({ socketPath: '/nonexistent/docker.sock' });
  await expect(docker.info()).rejects.toMatchObject({
    exit: 'docker',
    message: expect.stringMatching(/start Docker/),
  });
});

test('a DOCKER_HOST that is no address: the exit code for engines, once one is asked for', async () => {
  const before = process.env['DOCKER_HOST'];
  process.env['DOCKER_HOST'] = 'tcp://::x';
  try {
    const docker = dockerodeDocker();
    await expect(docker.info()).rejects.toMatchObject({
      exit: 'docker',
      message: expect.stringMatching(/DOCKER_HOST/),
    });
  } finally {
    if (before === undefined) delete process.env['DOCKER_HOST'];
    else process.env['DOCKER_HOST'] = before;
  }
});

test('lists the images with a label, newest first, without nameless tags', async () => {
  let url = '';
  const docker = await engineWith((request, response) => {
    url = decodeURIComponent(request.url!);
    const image = (Id: string, Created: number, RepoTags: string[]) => ({
      Id,
      Created,
      RepoTags,
      Labels: null,
      Size: 1,
    });
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify([image('old', 1, ['<none>:<none>']), image('new', 2, ['a:latest'])]));
  });
  expect(await docker.listImages('io.slipway.model')).toEqual([
    { id: 'new', created: 2, references: ['a:latest'], labels: {}, size: 1 },
    { id: 'old', created: 1, references: [], labels: {}, size: 1 },
  ]);
  expect(url).toContain('{"label":["io.slipway.model"]}');
});

describe('images as tars', () => {
  test('a load that the engine refuses in a stream with status 200 fails', async () => {
    const docker = await engineWith((_, response) =>
      response.end(
        lines({ status: 'Loading layer', id: 'a' }, { errorDetail: { message: 'invalid diffID' } }),
      ),
    );
    const load = docker.loadImages(Readable.from(['tar']), () => undefined);
    await expect(load).rejects.toMatchObject({ message: 'docker load failed: invalid diffID' });
  });

  test('a load names what it has loaded', async () => {
    const docker = await engineWith((_, response) =>
      response.end(
        lines({ stream: 'Loaded image: a/b:latest\n' }, { stream: 'Loaded image ID: sha256:1\n' }),
      ),
    );
    const loaded = await docker.loadImages(Readable.from(['tar']), () => undefined);
    expect(loaded).toEqual(['a/b:latest', 'sha256:1']);
  });

  test('a tar that breaks on its way fails in its own words, and does not hang', async () => {
    const docker = await engineWith(() => undefined);
    const broken = new Readable({
      read: () => void broken.destroy(new BuilderError('refused', 'truncated')),
    });
    const load = docker.loadImages(broken, () => undefined);
    await expect(load).rejects.toMatchObject({ exit: 'refused', message: 'truncated' });
  });

  test('an engine that goes away while it saves is an error, not a short tar', async () => {
    let url = '';
    const docker = await engineWith((request, response) => {
      url = request.url!;
      response.write('half');
      setImmediate(() => response.destroy());
    });
    const saved = await docker.saveImages(['a:1', 'b:2']);
    await expect(buffer(saved)).rejects.toMatchObject({ name: 'BuilderError' });
    expect(new URL(url, 'http://x').searchParams.getAll('names')).toEqual(['a:1', 'b:2']);
  });
});
