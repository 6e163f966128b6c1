import { randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import type Dockerode from 'dockerode';
import type { ContainerOptions, RunningContainer } from '../docker.js';
import { gpuSettings } from './gpus.js';
import { madeBy } from '../made.js';
import { isNotFound, type EngineError, withEngineErrors } from '../engine-errors.js';

/** Name and labels by which builder knows its containers. */
export function madeLabels(temporary: boolean): { name: string; Labels: Record<string, string> } {
  const { name, labels } = madeBy(`slipway-${randomBytes(4).toString('hex')}`, temporary);
  return { name, Labels: labels };
}

/** Creates and starts a container with a published port. */
export async function start(client: Dockerode, options: ContainerOptions): Promise<RunningContainer> {
  const container = await client.createContainer({
    Image: options.image,
    ...madeLabels(options.temporary ?? false),
    Env: Object.entries(options.env).map(([name, value]) => `${name}=${value}`),
    HostConfig: {
      AutoRemove: options.autoRemove,
      PortBindings: { '80/tcp': [{ HostIp: options.hostAddress, HostPort: String(options.hostPort) }] },
      Binds: readOnlyBinds(options.mounts),
      ...(await gpuSettings(client, options.device)),
    },
  });
  // Both before the start, because a container that ends at once may be removed with its output and status.
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
    memory: () => withEngineErrors(() => memoryOf(container)),
    wait: () => withEngineErrors(async () => (await Promise.all([ended, output?.done]))[0].StatusCode),
    stop: (graceSeconds) => withEngineErrors(() => stop(container, graceSeconds)),
  };
}

/** @param mounts path of the engine's machine to path inside */
export function readOnlyBinds(mounts: Readonly<Record<string, string>>): string[] {
  return Object.entries(mounts).map(([host, inside]) => `${host}:${inside}:ro`);
}

/** As `docker stats` counts: without file pages that the kernel may drop. */
async function memoryOf(container: Dockerode.Container): Promise<number | undefined> {
  const { memory_stats: memory } = await container.stats({ stream: false, 'one-shot': true });
  if (memory.usage === undefined) return undefined;
  const { inactive_file: unified, total_inactive_file: legacy } = memory.stats as Partial<
    Record<string, number>
  >;
  return memory.usage - (unified ?? legacy ?? 0);
}

async function publishedPort(container: Dockerode.Container, asked: number): Promise<number> {
  const details = await isNotFound(container.inspect());
  return Number(details?.NetworkSettings.Ports['80/tcp']?.[0]?.HostPort ?? asked);
}

/** @returns `done`, which resolves once the output has ended */
export async function attach(
  client: Dockerode,
  container: Dockerode.Container,
  onOutput: (text: string) => void,
) {
  const stream = await container.attach({ stream: true, stdout: true, stderr: true });
  const text = new PassThrough({ encoding: 'utf8' });
  text.on('data', onOutput);
  client.modem.demuxStream(stream, text, text);
  return {
    end: () => void stream.end(),
    done: new Promise<void>((resolve) => stream.once('end', resolve).once('close', resolve)),
  };
}

/** No error when it has ended already. */
export async function stop(container: Dockerode.Container, graceSeconds: number): Promise<void> {
  // 304 stopped already, 404 removed already.
  await container.stop({ t: graceSeconds }).catch((error: EngineError) => {
    if (error.statusCode !== 304 && error.statusCode !== 404 && error.statusCode !== 409) throw error;
  });
}
