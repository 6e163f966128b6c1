import { PassThrough, type Readable } from 'node:stream';
import Dockerode from 'dockerode';
import { BuilderError } from '../exit.js';
import type { BuildOptions, ContainerOptions, Docker, EngineInfo, RunningContainer } from './docker.js';
import { absent, type EngineError, guard } from './engine-errors.js';

/** A Docker over dockerode, which finds the engine by DOCKER_HOST, else at the local socket. */
export function dockerodeDocker(options?: Dockerode.DockerOptions): Docker {
  const client = new Dockerode(options);
  return {
    info: () => guard(() => engineInfo(client)),
    async inspectImage(reference) {
      const found = await guard(() => absent(client.getImage(reference).inspect()));
      const platform = found && `${found.Os}/${found.Architecture}`;
      return (
        found && { id: found.Id, labels: found.Config.Labels ?? {}, size: found.Size, platform: platform! }
      );
    },
    buildImage: (context, options, onLine) => guard(() => build(client, context, options, onLine)),
    async listImages(label) {
      const images = await guard(() => client.listImages({ filters: { label: [label] } }));
      return images
        .map((image) => ({
          id: image.Id,
          labels: image.Labels ?? {},
          size: image.Size,
          references: (image.RepoTags ?? []).filter((tag) => tag !== '<none>:<none>'),
          created: image.Created,
        }))
        .sort((a, b) => b.created - a.created);
    },
    async tagImage(reference, target) {
      const colon = target.lastIndexOf(':');
      await guard(() =>
        client.getImage(reference).tag({ repo: target.slice(0, colon), tag: target.slice(colon + 1) }),
      );
    },
    startContainer: (options) => guard(() => start(client, options)),
  };
}

async function engineInfo(client: Dockerode): Promise<EngineInfo> {
  const [info, version] = await Promise.all([client.info(), client.version()]);
  return {
    version: version.Version,
    apiVersion: version.ApiVersion,
    storage: info.Driver,
    platform: `${version.Os}/${version.Arch}`,
    nvidia: 'nvidia' in (info.Runtimes ?? {}),
  };
}

async function build(
  client: Dockerode,
  context: Readable,
  options: BuildOptions,
  onLine: (line: string) => void,
) {
  const abort = new AbortController();
  const broken = new Promise<never>((_, reject) => {
    context.once('error', (error) => {
      abort.abort();
      reject(
        new BuilderError('failure', `the build context can't be read: ${error.message}`, { cause: error }),
      );
    });
  });
  const request = {
    // Several `t` parameters are what the engine takes; the type of the library knows one only.
    t: options.references as unknown as string,
    forcerm: true,
    abortSignal: abort.signal,
    ...(options.buildArgs === undefined ? {} : { buildargs: options.buildArgs }),
    ...(options.platform === undefined ? {} : { platform: options.platform }),
  };
  await Promise.race([buildAndFollow(client, context, request, onLine), broken]);
}

async function buildAndFollow(
  client: Dockerode,
  context: Readable,
  request: Dockerode.ImageBuildOptions,
  onLine: (line: string) => void,
): Promise<void> {
  const stream = await client.buildImage(context, request);
  await new Promise<void>((resolve, reject) => {
    client.modem.followProgress(
      stream,
      (error) => (error ? reject(error) : resolve()),
      progressLines(onLine, reject),
    );
  });
}

interface BuildEvent {
  stream?: string;
  status?: string;
  id?: string;
  errorDetail?: { message?: string };
  error?: string;
}

/** A failed step is a line in a stream that ends well: it must fail the build. */
function progressLines(onLine: (line: string) => void, fail: (error: Error) => void) {
  return (event: BuildEvent): void => {
    const error = event.errorDetail?.message ?? event.error;
    if (error) fail(new BuilderError('failure', `docker build failed: ${error.trim()}`));
    for (const line of (event.stream ?? event.status ?? '').split('\n'))
      if (line.trim()) onLine(line.trimEnd());
  };
}

async function start(client: Dockerode, options: ContainerOptions): Promise<RunningContainer> {
  const container = await client.createContainer({
    Image: options.image,
    ...(options.name === undefined ? {} : { name: options.name }),
    Env: Object.entries(options.env).map(([name, value]) => `${name}=${value}`),
    HostConfig: {
      AutoRemove: options.autoRemove,
      PortBindings: { '80/tcp': [{ HostIp: options.hostAddress, HostPort: String(options.hostPort) }] },
      Binds: Object.entries(options.mounts).map(([host, inside]) => `${host}:${inside}:ro`),
      ...(options.gpus ? { DeviceRequests: [{ Driver: 'nvidia', Count: -1, Capabilities: [['gpu']] }] } : {}),
    },
  });
  // Both before the start: a container that ends at once and is removed would give neither output nor status.
  const output = options.onOutput && (await attach(client, container, options.onOutput));
  const listening = new AbortController();
  const ended = container.wait({
    condition: options.autoRemove ? 'removed' : 'next-exit',
    abortSignal: listening.signal,
  }) as Promise<{ StatusCode: number }>;
  ended.catch(() => undefined);
  try {
    await container.start();
  } catch (error) {
    await container.remove({ force: true }).catch(() => undefined);
    throw error;
  }
  return {
    id: container.id,
    port: await publishedPort(container, options.hostPort),
    release() {
      listening.abort();
      output?.end();
    },
    wait: () => guard(async () => (await Promise.all([ended, output?.done]))[0].StatusCode),
    stop: (graceSeconds) => guard(() => stop(container, graceSeconds)),
  };
}

async function publishedPort(container: Dockerode.Container, asked: number): Promise<number> {
  const details = await absent(container.inspect());
  return Number(details?.NetworkSettings.Ports['80/tcp']?.[0]?.HostPort ?? asked);
}

/** @returns `done`, which resolves once the output has ended */
async function attach(client: Dockerode, container: Dockerode.Container, onOutput: (text: string) => void) {
  const stream = await container.attach({ stream: true, stdout: true, stderr: true });
  const text = new PassThrough({ encoding: 'utf8' });
  text.on('data', onOutput);
  client.modem.demuxStream(stream, text, text);
  return {
    end: () => void stream.end(),
    done: new Promise<void>((resolve) => stream.once('end', resolve).once('close', resolve)),
  };
}

async function stop(container: Dockerode.Container, graceSeconds: number): Promise<void> {
  // 304 stopped already, 404 removed already.
  await container.stop({ t: graceSeconds }).catch((error: EngineError) => {
    if (error.statusCode !== 304 && error.statusCode !== 404 && error.statusCode !== 409) throw error;
  });
}
