/** What the console shows. Imports nothing, because the page imports these types. */
export interface ConsoleState {
  /** Milliseconds since 1970. */
  at: number;
  version: string;
  totals: Totals;
  memory: MemoryUse;
  models: ModelState[];
  errors: ErrorRow[];
  history: readonly Sample[];
  /** Where the pages of models are; null without them. */
  playground: PlaygroundPlace | null;
}

/** The path of models below an address: the one that operators gave, else that of the console's host and this port. */
export interface PlaygroundPlace {
  url: string | null;
  port: number;
  path: string;
}

export interface Totals {
  requests: number;
  /** Answers with an error. */
  errors: number;
  coldStarts: number;
  /** Calls that hold a server of a model now. */
  underWay: number;
  /** Callers that wait for a server. */
  waiting: number;
  /** Servers of models, in any state. */
  servers: number;
  latency: Latency;
}

/** Seconds, estimated from the histogram; null before the first call. */
export interface Latency {
  p50: number | null;
  p95: number | null;
}

export interface MemoryUse {
  /** Bytes that servers of models count for in the budget. */
  models: number;
  /** Bytes; null where this gateway runs no servers. */
  budget: number | null;
  /** Resident bytes of the gateway itself. */
  gateway: number;
}

/** `elsewhere`: its servers are not run by this gateway. */
export type ModelCondition = 'cold' | 'starting' | 'warm' | 'busy' | 'stopping' | 'failed' | 'elsewhere';

export interface ModelState {
  id: string;
  task: string;
  /** Billions of parameters. */
  params: number | null;
  /** Bytes of memory that one server takes, or is assumed to. */
  size: number;
  figures: 'given' | 'measured' | 'predicted' | 'assumed';
  state: ModelCondition;
  /** Why it failed, or why it can't be started and stopped here. */
  reason: string | null;
  servers: number;
  underWay: number;
  requests: number;
  errors: number;
  coldStarts: number;
  latency: Latency;
  /** Of all keys. */
  usage: Usage;
}

/** Errors of one kind: the same code, model and key. */
export interface ErrorRow {
  /** Of the last one, milliseconds since 1970. */
  at: number;
  times: number;
  code: string;
  status: number | null;
  model: string | null;
  key: string | null;
  /** Of the last one; finds its line in the log. */
  requestId: string | null;
  /** Why a server did not start; null for calls, whose messages may hold what a caller has sent. */
  reason: string | null;
}

/** One point of the charts. */
export interface Sample {
  at: number;
  requests: number;
  errors: number;
  coldStarts: number;
  underWay: number;
  /** Bytes that servers of models count for. */
  memory: number;
  /** Seconds, of the calls since the sample before; null without calls. */
  p95: number | null;
}

/** Calls in a time, and at once; null for any number. */
export interface KeyLimits {
  calls: number;
  seconds: number;
  concurrent: number | null;
}

/** Since this gateway started. */
export interface Usage {
  calls: number;
  /** That models were held. */
  seconds: number;
  /** Dollars. */
  cost: number;
  /** Read and written; 0 of models that don't count them. */
  tokensIn: number;
  tokensOut: number;
}

/** What a key has used of one model. */
export interface ModelUsage extends Usage {
  model: string;
}

export interface KeyState extends Usage {
  id: string;
  name: string;
  created: string;
  /** Set for this key alone. */
  own: { rate?: { calls: number; seconds: number } | undefined; concurrent?: number | undefined };
  /** Those that hold: its own, else those of all keys. */
  limits: KeyLimits;
}

export interface KeyList {
  keys: KeyState[];
  /** Of every key that has none for itself. */
  limits: KeyLimits;
  /** Whether keys can be changed here. */
  isFile: boolean;
}
