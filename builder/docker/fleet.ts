import type { Device } from '../../runtime/core/spec.js';
import type { EngineInfo, ImageSummary } from './docker.js';

/**
 * What a gateway needs of a Docker Engine: model servers on their own network, without published ports. Every method
 * throws BuilderError: `docker` when no engine answers, `failure` with the engine's message.
 */
export interface Fleet {
  info(): Promise<EngineInfo>;
  /** Images with the label; newest first. */
  listImages(label: string): Promise<ImageSummary[]>;
  /** Creates the network if needed. Servers on it can't reach each other. Fails if it exists with another `internal`. */
  ensureNetwork(network: Network): Promise<void>;
  /**
   * Creates and starts a container whose program waits for `begin`. A failure leaves nothing behind. Without `begin` it
   * ends with this process.
   */
  prepare(options: ServerOptions): Promise<PreparedServer>;
  /** All servers with the label `name=value`, in any state. */
  list(label: readonly [name: string, value: string]): Promise<FleetServer[]>;
  /** Resolves with the reason when it has ended or was removed. */
  ended(id: string): Promise<string>;
  /** The last line of its log, without the timestamp. */
  lastLine(id: string): Promise<string>;
  /** SIGTERM, then SIGKILL after the given seconds, then removes it. No error if it does not exist. */
  remove(id: string, graceSeconds: number): Promise<void>;
}

export interface Network {
  name: string;
  labels: Record<string, string>;
  /** Servers on it have no access to other networks, so not to a hub either. */
  internal: boolean;
}

/** Folder of a server's secrets. */
export const SECRETS = '/run/secrets';

export interface ServerOptions {
  /** Reference or id. */
  image: string;
  name: string;
  network: string;
  env: Record<string, string>;
  labels: Record<string, string>;
  /** Memory limit, without additional swap. */
  memoryBytes: number;
  /** Of the image: the container is given all GPUs that it may need. */
  device: Device;
  /** A named volume that keeps downloads when the server is removed. */
  volume?: { name: string; path: string; labels: Record<string, string> } | undefined;
}

/**
 * Values by name, without line breaks. They become files in `SECRETS` that only the container's root may read, in
 * memory, so that neither an inspection nor a commit of the container shows them.
 */
export type Secrets = Record<string, string>;

/** A server all of which has started but its own program. */
export interface PreparedServer {
  server: FleetServer;
  /** Renames it where it has another name, passes its secrets, and lets its program start. @throws as the other methods */
  begin(name: string, secrets: Secrets): Promise<void>;
  /** Gives it up: it ends by itself, and is still to be removed. */
  abandon(): void;
}

export interface FleetServer {
  id: string;
  name: string;
  /** Creation time in milliseconds since 1970, by the engine's clock. */
  created: number;
  /** Id of its image. */
  image: string;
  labels: Record<string, string>;
  running: boolean;
  /** Address on its network; empty when it does not run. */
  address: string;
}
