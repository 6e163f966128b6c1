import type { Fleet, FleetServer, PreparedServer } from '../../builder/docker/fleet.js';
import { LABEL } from '../../builder/images/labels.js';
import type { ModelEntry } from '../catalog/entry.js';
import { containerLife, STOP_GRACE_SECONDS } from './container-life.js';
import {
  type ContainerOptions,
  containerName,
  GATEWAY_LABEL,
  networkOf,
  secretsOf,
  serverOptions,
  spareName,
} from './container-settings.js';
import { createStandby, type Spare } from './standby.js';
import type { ServerInstance, Launcher, LeftoverServer } from './upstream.js';

export interface DockerOptions extends ContainerOptions {
  fleet: Fleet;
  /** Most containers that are started ahead and wait for a call to their model. */
  standby: number;
  log: (line: string) => void;
}

/** A container that is still not running after this long belongs to a failed start. */
const START_BROKE_OFF_MS = 60_000;

/**
 * Runs each model as a container of its image: on the gateway's own network, without published ports, with secrets in
 * files. Containers survive a gateway that is killed; the next gateway of the same name takes them over. For models that may
 * be called next, containers are started ahead up to their program, which takes most of a small model's start; those end
 * with the gateway.
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
  const { follow, failStart, removed } = containerLife({ fleet, known, log });

  const standby = createStandby<SpareContainer>({
    ...{ most: options.standby, log },
    kindOf: (entry) => JSON.stringify(serverOptions(entry, options)),
    async make(entry) {
      const waiting = containerName(spareName(name), entry);
      const prepared = await prepare(entry, waiting);
      const { id } = prepared.server;
      const discard = () => {
        // Its connection would keep this process.
        prepared.abandon();
        return fleet.remove(id, 0).finally(() => known.delete(waiting));
      };
      return { prepared, ended: fleet.ended(id), discard };
    },
  });

  /** Known from here on, since the sweep takes away what is not; unless it fails. */
  async function prepare(entry: ModelEntry, container: string): Promise<PreparedServer> {
    known.add(container);
    try {
      await ensureNetwork();
      return await fleet.prepare({ ...serverOptions(entry, options), name: container });
    } catch (error) {
      // The network may have been removed.
      network = undefined;
      // The sweep removes what is left of it.
      known.delete(container);
      throw error;
    }
  }

  async function launch(entry: ModelEntry, signal: AbortSignal): Promise<ServerInstance> {
    const container = containerName(`slipway-${name}-`, entry);
    const server = (await beginSpare(entry, container)) ?? (await beginNew(entry, container));
    return follow(server, signal);
  }

  /** Undefined without a spare, or when it has ended just now. */
  async function beginSpare(entry: ModelEntry, container: string): Promise<FleetServer | undefined> {
    const spare = await standby.take(entry);
    if (!spare) return undefined;
    const { server, begin } = spare.prepared;
    known.add(container);
    try {
      await begin(container, secretsOf(entry, options));
      known.delete(server.name);
      return { ...server, name: container };
    } catch (error) {
      known.delete(container);
      log(`${server.name} can't be used: ${(error as Error).message}`);
      await spare.discard().catch((left: Error) => log(`it can't be removed yet: ${left.message}`));
      return undefined;
    }
  }

  async function beginNew(entry: ModelEntry, container: string): Promise<FleetServer> {
    const { server, begin } = await prepare(entry, container);
    try {
      await begin(container, secretsOf(entry, options));
    } catch (error) {
      known.delete(container);
      throw await failStart(server.id, error as Error);
    }
    return server;
  }

  async function leftovers(): Promise<LeftoverServer[]> {
    const servers = await fleet.list(label);
    const strays = servers.filter((server) => !known.has(server.name));
    return strays.map((server) => ({
      name: server.name,
      isDead: !server.running && Date.now() - server.created > START_BROKE_OFF_MS,
      modelId: server.labels[LABEL.model] ?? '',
      isOf: (entry) =>
        server.running &&
        !server.name.startsWith(spareName(name)) &&
        server.address !== '' &&
        server.image === entry.image?.id,
      resume: (signal) => follow(server, signal),
      discard: () => fleet.remove(server.id, STOP_GRACE_SECONDS),
    }));
  }

  return {
    launch,
    leftovers,
    expect: (entries) => standby.want(entries.filter(({ image }) => image !== undefined)),
    async close() {
      await standby.close();
      await removed();
    },
  };
}

/** A container that has started up to its program. */
interface SpareContainer extends Spare {
  prepared: PreparedServer;
}
