import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Usage } from '../../runtime/core/usage.js';
import type { ModelEntry } from '../catalog/entry.js';

/** Provides servers of models. */
export interface Upstream {
  /**
   * Leases a server that is ready; starts one if needed, which may take minutes.
   * @throws RunError `overloaded` when it does not fit, `not_ready` when it does not start, or the abort reason
   */
  acquire(entry: ModelEntry, signal: AbortSignal): Promise<Lease>;
  /** The servers that this gateway runs; absent from upstreams that run none. */
  status?(): RunningModel[];
  /** Takes all servers of a model out of use and stops them when their calls are done. @returns how many; as `status` */
  stop?(modelId: string): number;
  /** GB for all servers together; as `status`. */
  budgetGb?: number;
  /** Stops the servers that this gateway started. */
  close(): Promise<void>;
}

/** One server of a model; a model may have several. */
export interface RunningModel {
  modelId: string;
  state: 'starting' | 'ready' | 'draining' | 'stopping';
  /** Running calls. */
  leases: number;
  /** GB. */
  ramRequired: number;
}

/** What happened to a server of a model, for the audit log. */
export interface ModelEvent {
  event: 'started' | 'failed' | 'stopped';
  modelId: string;
  /** Why it failed or stopped. */
  reason?: string;
}

/** The use of a server by one call. A server is not stopped for idleness or memory while it is leased. */
export interface Lease {
  /** Without a path. */
  url: string;
  /** How it is connected to, where that is not directly. */
  dispatcher?: Dispatcher | undefined;
  /** What asks it, where it is no container. */
  client?: ContainerClient | undefined;
  /** The model had to be started for this call. */
  cold: boolean;
  release(): void;
  /**
   * Call it when the server did not answer. Resolves after a probe; if that fails, the server gets no more calls.
   */
  suspect?(): Promise<void>;
  /** Call it when the server refused because it stops: it gets no more calls. */
  stops?(): void;
}

/** Asks a model as POST /run of its container would be asked, for models that have no container. */
export interface ContainerClient {
  /**
   * Resolves when the answer has begun.
   * @throws RunError for what has gone wrong before, or the signal's reason
   */
  run(request: RunCall): Promise<ContainerAnswer>;
}

/** A request to POST /run. */
export interface RunCall {
  /** JSON. */
  body: Buffer | string;
  /** Those of `accept` and `lang` that are given. */
  headers: Record<string, string>;
  signal: AbortSignal;
  /** Told once at most, as soon as the tokens are known; for clients that are no containers. */
  onUsage?: ((usage: Usage) => void) | undefined;
}

/** What a container answers: the envelope, a medium, or a stream of text or events. */
export interface ContainerAnswer {
  statusCode: number;
  headers: IncomingHttpHeaders;
  body: Readable & { text(): Promise<string>; bytes(): Promise<Uint8Array> };
}

/** A running server of one model. */
export interface ServerInstance {
  url: string;
  /** Resolves with the reason when the server has ended. */
  ended: Promise<string>;
  /** Measured memory in GB; if absent, the entry's figure counts. */
  gigabytes?: number;
  /** Probes the server: false when it does not answer. */
  isAlive(): Promise<boolean>;
  /** @throws Error when it can't be stopped; may be tried again */
  stop(): Promise<void>;
}

/** Starts servers, as processes or containers. */
export interface Launcher {
  /** Resolves when the model is ready. @throws Error with the reason */
  launch(entry: ModelEntry, signal: AbortSignal): Promise<ServerInstance>;
  /**
   * Models that may be called next, the likeliest first: what can be done before a launch is done for them in the
   * background, and undone for all others. Absent where nothing can.
   */
  expect?(entries: readonly ModelEntry[]): void;
  /**
   * Servers that this launcher did not start or resume: of an earlier run, or of failed starts and stops. Absent when
   * servers always end with the gateway.
   */
  leftovers?(): Promise<LeftoverServer[]>;
  /** Resolves when all servers that have ended are removed, and all that was done ahead is undone. */
  close?(): Promise<void>;
}

export interface LeftoverServer {
  /** For the log. */
  name: string;
  modelId: string;
  /** It does not run and is not being started, so it can be removed. */
  isDead: boolean;
  /** True if it is the same server that would be started for this entry now. */
  isOf(entry: ModelEntry): boolean;
  /** As `launch`. */
  resume(signal: AbortSignal): Promise<ServerInstance>;
  discard(): Promise<void>;
}
