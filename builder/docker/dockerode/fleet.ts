import type Dockerode from 'dockerode';
import { setTimeout as sleep } from 'node:timers/promises';
import { pack, type Pack } from 'tar-stream';
import { BuilderError } from '../../exit.js';
import { absent, type EngineError, explained } from '../engine-errors.js';
import type { FleetServer, Network, ServerOptions } from '../fleet.js';
import { stop } from './containers.js';

/** What a server needs while it is root: to own its folder and to become somebody else. */
const CAPABILITIES = ['CHOWN', 'SETUID', 'SETGID'];
const MOST_PROCESSES = 1024;
/** More than models log in an hour; older lines go. */
const LOG = { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '2' } };

export async function ensureNetwork(client: Dockerode, { name, labels, internal }: Network): Promise<void> {
  const there = (await absent(client.getNetwork(name).inspect())) as { Internal?: boolean } | undefined;
  if (there && (there.Internal ?? false) !== internal) throw otherKind(name, internal);
  if (there) return;
  await client
    .createNetwork({
      ...{ Name: name, Driver: 'bridge', Internal: internal, Labels: labels, CheckDuplicate: true },
      Options: { 'com.docker.network.bridge.enable_icc': 'false' },
    })
    .catch((error: EngineError) => {
      // Somebody was faster.
      if (error.statusCode !== 409) throw error;
    });
}

function otherKind(name: string, internal: boolean): BuilderError {
  const kind = internal ? 'leads outside, and --offline forbids that' : 'was made with --offline';
  const remedy = `end the gateway that uses it, then "docker network rm ${name}"`;
  return new BuilderError('failure', `the network ${name} ${kind}: ${remedy}`);
}

export async function startServer(client: Dockerode, options: ServerOptions): Promise<FleetServer> {
  const container = await client.createContainer(creation(options));
  try {
    await container.putArchive(archiveOf(options.files) as unknown as NodeJS.ReadableStream, { path: '/' });
    await container.start();
    return await inspectServer(container, options.network);
  } catch (error) {
    await container.remove({ force: true, v: true }).catch(() => undefined);
    throw error;
  }
}

function creation(options: ServerOptions): Dockerode.ContainerCreateOptions {
  const { image, name, network, env, labels, memoryBytes, gpus, volume } = options;
  return {
    ...{ Image: image, name, Labels: labels },
    Env: Object.entries(env).map(([key, value]) => `${key}=${value}`),
    // A gateway asks by itself, and without a process each time.
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      ...{ NetworkMode: network, Memory: memoryBytes, MemorySwap: memoryBytes },
      ...{ CapDrop: ['ALL'], CapAdd: CAPABILITIES, SecurityOpt: ['no-new-privileges'] },
      ...{ PidsLimit: MOST_PROCESSES, Init: true, LogConfig: LOG },
      Mounts: volume === undefined ? [] : [mountOf(volume)],
      ...(gpus ? { DeviceRequests: [{ Driver: 'nvidia', Count: -1, Capabilities: [['gpu']] }] } : {}),
    },
  };
}

function mountOf({ name, path, labels }: NonNullable<ServerOptions['volume']>): Dockerode.MountSettings {
  const VolumeOptions = { NoCopy: false, Labels: labels, DriverConfig: { Name: 'local', Options: {} } };
  return { Type: 'volume', Source: name, Target: path, VolumeOptions };
}

function archiveOf(files: Record<string, string>): Pack {
  const archive = pack();
  for (const [path, content] of Object.entries(files))
    archive.entry({ name: path.replace(/^\/+/, ''), mode: 0o400, uid: 0, gid: 0 }, content);
  archive.finalize();
  return archive;
}

async function inspectServer(container: Dockerode.Container, network: string): Promise<FleetServer> {
  const { Id, Image, Config, State, NetworkSettings } = await container.inspect();
  return {
    ...{ id: Id, image: Image, labels: Config.Labels, running: State.Running },
    address: NetworkSettings.Networks[network]?.IPAddress ?? '',
  };
}

export async function listServers(
  client: Dockerode,
  [name, value]: readonly [string, string],
): Promise<FleetServer[]> {
  const found = await client.listContainers({ all: true, filters: { label: [`${name}=${value}`] } });
  return found.map(({ Id, ImageID, Labels, State, NetworkSettings }) => ({
    ...{ id: Id, image: ImageID, labels: Labels, running: State === 'running' },
    address: Object.values(NetworkSettings.Networks)[0]?.IPAddress ?? '',
  }));
}

const RETRY_MS = 1000;

/** Survives an engine that restarts under its containers. */
export async function serverEnd(client: Dockerode, id: string): Promise<string> {
  const container = client.getContainer(id);
  for (;;) {
    try {
      const { StatusCode } = (await container.wait()) as { StatusCode: number };
      const state = (await absent(container.inspect()))?.State;
      return state?.OOMKilled
        ? 'was ended: it took more memory than it may'
        : `ended with status ${StatusCode}`;
    } catch (error) {
      if ((error as EngineError).statusCode === 404) return 'was removed';
      await sleep(RETRY_MS, undefined, { ref: false });
    }
  }
}

const MARK_BYTES = 8;

export async function lastLine(client: Dockerode, id: string): Promise<string> {
  const log = await absent(client.getContainer(id).logs({ stdout: true, stderr: true, tail: 1 }));
  return (log?.subarray(MARK_BYTES).toString('utf8') ?? '').trim();
}

export async function removeServer(client: Dockerode, id: string, graceSeconds: number): Promise<void> {
  const container = client.getContainer(id);
  try {
    await stop(container, graceSeconds);
    await container.remove({ force: true, v: true });
  } catch (error) {
    // 409: somebody else takes it away just now.
    if (![404, 409].includes((error as EngineError).statusCode ?? 0)) throw explained(error as EngineError);
  }
}
