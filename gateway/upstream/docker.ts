import { randomBytes } from 'node:crypto';
import { type Fleet, type FleetServer, SECRETS, type ServerOptions } from '../../builder/docker/fleet.js';
import { LABEL } from '../../builder/images/labels.js';
import { hubAddress } from '../../runtime/store/hub-address.js';
import type { ModelEntry } from '../catalog/entry.js';
import { isServerAlive, waitUntilReady } from './server-status.js';
import type { ServerInstance, Launcher, LeftoverServer } from './upstream.js';

export interface DockerOptions {
  fleet: Fleet;
  /** Name of this gateway: by it its containers are known after a restart. */
  name: string;
  /** The containers reach nothing outside: all weights are in their images. */
  offline: boolean;
  hub: { token?: string | undefined; endpoint?: string | undefined };
  /** Of request bodies, where they are not what servers have by themselves. */
  body: { maxBytes: number | undefined; maxValues: number | undefined };
  log: (line: string) => void;
}

/** On containers, networks and volumes: which gateway they belong to. */
const GATEWAY_LABEL = 'io.slipway.gateway';

const PORT = 8080;
const STOP_GRACE_SECONDS = 10;
/** A start that takes longer than this to make its container has broken off. */
const START_BROKE_OFF_MS = 60_000;

/**
 * Runs each model as a container of its image: on a network of the gateway's own, without ports of the host, with its
 * secrets in files. Containers outlive a gateway that is killed; the next one of the same name takes them over.
 */
export function dockerLauncher(options: DockerOptions): Launcher {
  const { fleet, name, offline, log } = options;
  const label = [GATEWAY_LABEL, name] as const;

  // Of two that make it at the same time, engines may make two of one name.
  let network: Promise<void> | undefined;
  const ensureNetwork = () =>
    (network ??= fleet.ensureNetwork({
      name: networkOf(name),
      labels: { [GATEWAY_LABEL]: name },
      internal: offline,
    }));

  /** Names of the containers that the pool knows, or is about to. */
  const known = new Set<string>();
  const removals = new Set<Promise<void>>();

  async function launch(entry: ModelEntry, signal: AbortSignal): Promise<ServerInstance> {
    const settings = serverOptions(entry, options);
    known.add(settings.name);
    try {
      await ensureNetwork();
      return await follow(await fleet.start(settings), signal);
    } catch (error) {
      // Somebody may have taken it away.
      network = undefined;
      // What is left of it is swept up.
      known.delete(settings.name);
      throw error;
    }
  }

  /** Resolves once it is ready; one that never is, or has ended, is taken away. */
  async function follow({ id, name, address }: FleetServer, signal: AbortSignal): Promise<ServerInstance> {
    const url = `http://${address}:${PORT}`;
    known.add(name);
    const ended = fleet.ended(id);
    const died = new AbortController();
    void ended.then((reason) => {
      died.abort(new Error(reason));
      void takeAway(id, name);
    });
    try {
      await waitUntilReady(url, AbortSignal.any([signal, died.signal]));
    } catch (error) {
      throw await failure(id, error as Error);
    }
    return {
      url,
      ended,
      isAlive: () => isServerAlive(url),
      stop: () => fleet.remove(id, STOP_GRACE_SECONDS),
    };
  }

  /** Nobody waits for it: no call goes to what has ended. */
  async function takeAway(id: string, name: string): Promise<void> {
    const removal = fleet
      .remove(id, 0)
      .catch((error: Error) => log(`${name} can't be removed yet: ${error.message}`));
    removals.add(removal);
    await removal;
    removals.delete(removal);
    known.delete(name);
  }

  async function failure(id: string, error: Error): Promise<Error> {
    const line = await fleet.lastLine(id).catch(() => '');
    await fleet.remove(id, 0).catch((left: Error) => log(`it can't be removed yet: ${left.message}`));
    return line === '' ? error : new Error(`${error.message}; its last words: ${line}`, { cause: error });
  }

  async function leftovers(): Promise<LeftoverServer[]> {
    const servers = await fleet.list(label);
    const unknown = servers.filter((server) => !known.has(server.name));
    return unknown.map((server) => ({
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
  const hidden = endpoint !== undefined && hubAddress(endpoint).authorization !== undefined;
  const secrets = {
    KEY: randomBytes(16).toString('hex'),
    ...(token === undefined ? {} : { HF_TOKEN: token }),
    ...(hidden ? { HF_ENDPOINT: endpoint } : {}),
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
      ...(endpoint === undefined || hidden ? {} : { HF_ENDPOINT: endpoint }),
      ...Object.fromEntries(Object.keys(secrets).map((secret) => [`${secret}_FILE`, `${SECRETS}/${secret}`])),
    },
    labels,
    secrets,
    // Nobody knows yet what it takes: a guess must not end it.
    memoryBytes: figures === 'assumed' ? 0 : Math.round(ramRequired * 1e9),
    gpus: image.gpu,
    volume: image.baked ? undefined : volume,
  };
}
