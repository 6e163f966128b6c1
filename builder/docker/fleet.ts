import type { EngineInfo, ImageSummary } from './docker.js';

/**
 * What a gateway needs of a Docker Engine: servers of models, on a network of their own and without ports of the host.
 * Every method throws BuilderError `docker` when no engine answers and `failure` in the engine's own words.
 */
export interface Fleet {
  info(): Promise<EngineInfo>;
  /** Images that carry the label; newest first. */
  listImages(label: string): Promise<ImageSummary[]>;
  /** Makes the network unless it is there. Servers on it can't reach each other. Fails on one of the other kind. */
  ensureNetwork(network: Network): Promise<void>;
  /** Creates a server, gives it its files, and starts it. Nothing of it is left when that fails. */
  start(options: ServerOptions): Promise<FleetServer>;
  /** All that carry the label `name=value`, in whatever state. */
  list(label: readonly [name: string, value: string]): Promise<FleetServer[]>;
  /** Resolves with what is to be said of its end, once it has ended or is gone. */
  ended(id: string): Promise<string>;
  /** The last line that it has written, without its time. */
  lastLine(id: string): Promise<string>;
  /** SIGTERM, then SIGKILL after the given seconds, then takes it away. No error when it is gone. */
  remove(id: string, graceSeconds: number): Promise<void>;
}

export interface Network {
  name: string;
  labels: Record<string, string>;
  /** Servers on it reach nothing outside: no hub. */
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
  /**
   * Values by name, without line breaks: files of these names below `SECRETS`, which only root of the container may read.
   * They lie in memory: neither an inspection nor a commit of the container shows them.
   */
  secrets: Record<string, string>;
  /** Limit, without swap beyond it. */
  memoryBytes: number;
  gpus: boolean;
  /** A named volume where what was downloaded outlives the server. */
  volume?: { name: string; path: string; labels: Record<string, string> } | undefined;
}

export interface FleetServer {
  id: string;
  name: string;
  /** When it was made, in milliseconds since 1970 by the engine's clock. */
  created: number;
  /** Id of its image. */
  image: string;
  labels: Record<string, string>;
  running: boolean;
  /** On its network; empty when it doesn't run. */
  address: string;
}
