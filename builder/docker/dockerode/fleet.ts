import type Dockerode from 'dockerode';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { BuilderError } from '../../exit.js';
import { isNotFound, type EngineError, explainEngineError, withEngineErrors } from '../engine-errors.js';
import type { FleetServer, Network, PreparedServer, Secrets, ServerOptions } from '../fleet.js';
import { stop } from './containers.js';
import { gpuSettings } from './gpus.js';
import { creation, sendSecrets } from './server-settings.js';

export async function ensureNetwork(client: Dockerode, { name, labels, internal }: Network): Promise<void> {
  const there = (await isNotFound(client.getNetwork(name).inspect())) as { Internal?: boolean } | undefined;
  if (there && (there.Internal ?? false) !== internal) throw otherKind(name, internal);
  if (there) return;
  await client
    .createNetwork({
      ...{ Name: name, Driver: 'bridge', Internal: internal, Labels: labels, CheckDuplicate: true },
      Options: { 'com.docker.network.bridge.enable_icc': 'false' },
    })
    .catch((error: EngineError) => {
      // Another process has created it.
      if (error.statusCode !== 409) throw error;
    });
}

function otherKind(name: string, internal: boolean): BuilderError {
  const kind = internal ? 'leads outside, and --offline forbids that' : 'was made with --offline';
  const remedy = `end the gateway that uses it, then "docker network rm ${name}"`;
  return new BuilderError('failure', `the network ${name} ${kind}: ${remedy}`);
}

export async function prepareServer(client: Dockerode, options: ServerOptions): Promise<PreparedServer> {
  const image = await client.getImage(options.image).inspect();
  const container = await client.createContainer(
    creation(options, image.Config, await gpuSettings(client, options.device)),
  );
  try {
    // Attach before the start, so that no input is lost.
    const stdin = (await container.attach({ stream: true, stdin: true, hijack: true })) as Duplex;
    // The engine closes it when the container ends, which `ended` tells.
    stdin.on('error', () => undefined);
    try {
      await container.start();
      const server = await inspectServer(container, options.network);
      return {
        server,
        begin: (name, secrets) => withEngineErrors(() => begin({ container, stdin, server }, name, secrets)),
        abandon: () => void stdin.destroy(),
      };
    } catch (error) {
      stdin.destroy();
      throw error;
    }
  } catch (error) {
    await container.remove({ force: true, v: true }).catch(() => undefined);
    throw error;
  }
}

interface Waiting {
  container: Dockerode.Container;
  stdin: Duplex;
  server: FleetServer;
}

async function begin({ container, stdin, server }: Waiting, name: string, secrets: Secrets): Promise<void> {
  try {
    if (stdin.destroyed)
      throw new BuilderError('failure', `${server.name} has ended before its program began`);
    if (name !== server.name) await container.rename({ name });
    await sendSecrets(stdin, secrets);
  } finally {
    stdin.destroy();
  }
}

async function inspectServer(container: Dockerode.Container, network: string): Promise<FleetServer> {
  const { Id, Name, Created, Image, Config, State, NetworkSettings } = await container.inspect();
  return {
    ...{ id: Id, name: Name.slice(1), created: Date.parse(Created) },
    ...{ image: Image, labels: Config.Labels, running: State.Running },
    address: NetworkSettings.Networks[network]?.IPAddress ?? '',
  };
}

export async function listServers(
  client: Dockerode,
  [name, value]: readonly [string, string],
): Promise<FleetServer[]> {
  const found = await client.listContainers({ all: true, filters: { label: [`${name}=${value}`] } });
  return found.map(({ Id, Names, Created, ImageID, Labels, State, NetworkSettings }) => ({
    ...{ id: Id, name: Names[0]?.slice(1) ?? Id, created: Created * 1000 },
    ...{ image: ImageID, labels: Labels, running: State === 'running' },
    address: Object.values(NetworkSettings.Networks)[0]?.IPAddress ?? '',
  }));
}

const RETRY_MS = 1000;

/** Waits for the end of a server, also across a restart of the engine. */
export async function serverEnd(client: Dockerode, id: string): Promise<string> {
  const container = client.getContainer(id);
  for (;;) {
    try {
      const { StatusCode } = (await container.wait()) as { StatusCode: number };
      const state = (await isNotFound(container.inspect()))?.State;
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
  const log = await isNotFound(client.getContainer(id).logs({ stdout: true, stderr: true, tail: 1 }));
  return (log?.subarray(MARK_BYTES).toString('utf8') ?? '').trim();
}

export async function removeServer(client: Dockerode, id: string, graceSeconds: number): Promise<void> {
  const container = client.getContainer(id);
  try {
    await stop(container, graceSeconds);
    await container.remove({ force: true, v: true });
  } catch (error) {
    // 409: it is being removed by another request.
    if (![404, 409].includes((error as EngineError).statusCode ?? 0))
      throw explainEngineError(error as EngineError);
  }
}
