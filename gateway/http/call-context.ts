import type { Response } from 'express';
import type { ModelEntry } from '../catalog/entry.js';
import type { StoredKey } from '../keys/key-file.js';
import type { TokenCounts } from './usage-headers.js';

/** What the handlers have found out about a call, for those who count it once it has ended. Never a key or a body. */
export interface CallContext {
  /** IP address at the other end of the connection. */
  address?: string | undefined;
  /** Start of the hash of a key that nobody was given. */
  refusedKey?: string;
  key?: Pick<StoredKey, 'id' | 'name'>;
  model?: Pick<ModelEntry, 'modelId' | 'task'>;
  /** The model had to be started for it. */
  cold?: boolean;
  /** Milliseconds that the caller was held until a server was there. */
  waitedMs?: number;
  /** What the model has read and written for it, where it counts; not of plain text streams. */
  tokens?: TokenCounts | undefined;
  /** Nothing for calls that reached no model. Ends with the answer: the response's `close`. */
  work?: {
    /** On the clock of performance.now(). */
    started: number;
    /** Dollars for each second. */
    perSecond: number;
  };
}

/** What is known of a call so far; handlers add to it. */
export function callContext({ locals }: Response): CallContext {
  return (locals['call'] ??= {}) as CallContext;
}
