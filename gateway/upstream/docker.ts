import { randomBytes } from 'node:crypto';
import { type Fleet, type FleetServer, SECRETS, type ServerOptions } from '../../builder/docker/fleet.js';
import { LABEL } from '../../builder/images/labels.js';
import { hubAddress } from '../../runtime/store/hub-address.js';
import type { ModelEntry } from '../catalog/entry.js';
import { isServerAlive, waitUntilReady } from './server-status.js';
import type { ServerInstance, Launcher, LeftoverServer } from './upstream.js';

export interface DockerOptions {
  fleet: Fleet;
  /** Name of this gateway, by which it finds its containers after a restart. */
  name: string;
  /** Containers get no access to outside networks; their images hold all weights. */
  offline: boolean;
  hub: { token?: string | undefined; endpoint?: string | undefined };
  /** Limits of request bodies, where they differ from the servers' defaults. */
  body: { maxBytes: number | undefined; maxValues: number | undefined };
  log: (line: string) => void;
}

/** Label of containers, networks and volumes: the gateway that they belong to. */
const GATEWAY_LABEL = 'io.slipway.gateway';

const PORT = 8080;
const STOP_GRACE_SECONDS = 10;
/** A container that is still not running after this long belongs to a failed start. */
const START_BROKE_OFF_MS = 60_000;

/**
 * Runs each model as a container of its image: on the gateway's own network, without published ports, with secrets in
 * files. Containers survive a gateway that is killed; the next gateway of the same name takes them over.
 */
export function dockerLauncher(options: DockerOptions): Launcher {
  const { fleet, name, offline, log } = options;
  const label = [GATEWAY_LABEL, name] as const;

  // One at a time: engines may create two networks of the same name for concurrent requests.
  let network: Promise<void> | undefined;
  const ensureNetwork = () =>
    (network ??= fleet.ensureNetwork({
      name: networkOf(name),
      labels: { [GATEWAY_LABEL]: name },
      internal: offline,
    }));

  /** Names of containers that the pool uses or is starting. */
  const known = new Set<string>();
  const removals = new Set<Promise<void>>();

  async function launch(entry: ModelEntry, signal: AbortSignal): Promise<ServerInstance> {
    const settings = serverOptions(entry, options);
    known.add(settings.name);
    try {
      await ensureNetwork();
      return await follow(await fleet.start(settings), signal);
    } catch (error) {
      // The network may have been removed.
      network = undefined;
      // The sweep removes what is left of it.
      known.delete(settings.name);
      throw error;
    }
  }

  /** Resolves when the server is ready. Removes the container when it fails to start, and when it ends. */
  async function follow({ id, name, address }: FleetServer, signal: AbortSignal): Promise<ServerInstance> {
    const url = `http://${address}:${PORT}`;
    known.add(name);
    const ended = fleet.ended(id);
    const died = new AbortController();
    void ended.then((reason) => {
      died.abort(new Error(reason));
      void removeEnded(id, name);
    });
    try {
      await waitUntilReady(url, AbortSignal.any([signal, died.signal]));
    } catch (error) {
      throw await failStart(id, error as Error);
    }
    return {
      url,
      ended,
      isAlive: () => isServerAlive(url),
      stop: () => fleet.remove(id, STOP_GRACE_SECONDS),
    };
  }

  /** Runs in the background; no call goes to a server that has ended. */
  async function removeEnded(id: string, name: string): Promise<void> {
    const removal = fleet
      .remove(id, 0)
      .catch((error: Error) => log(`${name} can't be removed yet: ${error.message}`));
    removals.add(removal);
    await removal;
    removals.delete(removal);
    known.delete(name);
  }

  async function failStart(id: string, error: Error): Promise<Error> {
    const lastLine = await fleet.lastLine(id).catch(() => '');
    await fleet.remove(id, 0).catch((left: Error) => log(`it can't be removed yet: ${left.message}`));
    return lastLine === ''
      ? error
      : new Error(`${error.message}; its last words: ${lastLine}`, { cause: error });
  }

  async function leftovers(): Promise<LeftoverServer[]> {
    const servers = await fleet.list(label);
    const strays = servers.filter((server) => !known.has(server.name));
    return strays.map((server) => ({
      name: server.name,
      isDead: !server.running && Date.now() - server.created > START_BROKE_OFF_MS,
      modelId: server.labels[LABEL.model] ?? '',
      isOf: (entry) => server.running && server.address !== '' && server.image === entry.image?.id,
      resume: (signal) => follow(server, signal),
      discard: () => fleet.remove(server.id, STOP_GRACE_SECONDS),
    }));
  }

  return { launch, leftovers, close: async () => void (await Promise.all(removals)) };
}

function networkOf(gateway: string): string {
  return `slipway-${gateway}`;
}

function serverOptions(entry: ModelEntry, { name, offline, hub, body }: DockerOptions): ServerOptions {
  const { modelId, image, ramRequired, figures } = entry;
  if (!image) throw new Error(`there is no image of it on this engine; "builder build ${modelId}" makes one`);
  const title = modelId.replace('/', '_');
  const labels = { [GATEWAY_LABEL]: name };
  const token = image.baked || offline ? undefined : hub.token;
  const { endpoint } = hub;
  const hasCredentials = endpoint !== undefined && hubAddress(endpoint).authorization !== undefined;
  const secrets = {
    KEY: randomBytes(16).toString('hex'),
    ...(token === undefined ? {} : { HF_TOKEN: token }),
    ...(hasCredentials ? { HF_ENDPOINT: endpoint } : {}),
  };
  const volume = { name: `slipway-weights-${title}`, path: '/server/model', labels };
  return {
    image: image.id,
    name: `slipway-${name}-${title.slice(0, 60)}-${randomBytes(3).toString('hex')}`,
    network: networkOf(name),
    env: {
      PORT: String(PORT),
      ...(body.maxBytes === undefined ? {} : { MAX_BODY_BYTES: String(body.maxBytes) }),
      ...(body.maxValues === undefined ? {} : { MAX_BODY_VALUES: String(body.maxValues) }),
      ...(endpoint === undefined || hasCredentials ? {} : { HF_ENDPOINT: endpoint }),
      ...Object.fromEntries(Object.keys(secrets).map((secret) => [`${secret}_FILE`, `${SECRETS}/${secret}`])),
    },
    labels,
    secrets,
    // No limit while the memory is only assumed, so that a wrong guess does not kill it.
    memoryBytes: figures === 'assumed' ? 0 : Math.round(ramRequired * 1e9),
    gpus: image.gpu,
    volume: image.baked ? undefined : volume,
  };
}
