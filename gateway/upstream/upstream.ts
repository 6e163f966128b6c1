import type { ModelEntry } from '../catalog/entry.js';

/** Where models answer. */
export interface Upstream {
  /**
   * A server that answers for the model now; starts one where there is none, which may take minutes.
   * @throws RunError `overloaded` when there is no room for it, `not_ready` when it does not start, or the signal's reason
   */
  acquire(entry: ModelEntry, signal: AbortSignal): Promise<Lease>;
  /** The servers of models that this gateway runs now; upstreams that run none have no such thing. */
  status?(): RunningModel[];
  /** Ends what this gateway has started. */
  close(): Promise<void>;
}

/** One server of a model: a model with several has several rows. */
export interface RunningModel {
  modelId: string;
  state: 'starting' | 'ready' | 'draining' | 'stopping';
  /** Calls that it answers now. */
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

/** A server that is in use. It is not stopped before every lease on it is given back. */
export interface Lease {
  /** Without a path. */
  url: string;
  /** The model had to be started for this call. */
  cold: boolean;
  release(): void;
  /**
   * To be called when the server has not answered. Resolves when it is known to live, or when calls no longer go there.
   */
  suspect?(): Promise<void>;
}

/** A running server of one model. */
export interface ServerInstance {
  url: string;
  /** Settles with the reason when it is gone. */
  ended: Promise<string>;
  /** GB that it takes, where that has been measured; else what its entry says counts. */
  gigabytes?: number;
  /** False when nobody answers there any more, though its end may not have been told yet. */
  isAlive(): Promise<boolean>;
  /** @throws Error when it can't be ended; to be tried again */
  stop(): Promise<void>;
}

/** How servers are started: as processes, as containers. */
export interface Launcher {
  /** Resolves once the model answers. @throws Error with the reason, for callers too */
  launch(entry: ModelEntry, signal: AbortSignal): Promise<ServerInstance>;
  /**
   * Servers that are there beside those that `launch` and `resume` have started: of an earlier run, or of starts and stops
   * that broke off. Those that end with the gateway leave none.
   */
  leftovers?(): Promise<LeftoverServer[]>;
  /** Settles when nothing is left of the servers that have ended. */
  close?(): Promise<void>;
}

export interface LeftoverServer {
  /** For the log. */
  name: string;
  modelId: string;
  /** It does not run and is no start under way: nobody will miss it. */
  isDead: boolean;
  /** It is what would be started for this entry now. */
  isOf(entry: ModelEntry): boolean;
  /** As `launch`. */
  resume(signal: AbortSignal): Promise<ServerInstance>;
  discard(): Promise<void>;
}
