import type { Response } from 'express';
import type { ModelEntry } from '../catalog/entry.js';
import type { StoredKey } from '../keys/key-file.js';
import type { TokenCounts } from '../../runtime/dialects/host.js';

/** What the handlers know of a call, for logs and counts when it has ended. Never holds a key or a body. */
export interface CallContext {
  /** IP address of the client. */
  address?: string | undefined;
  /** First characters of the hash of an unknown key. */
  refusedKey?: string;
  key?: Pick<StoredKey, 'id' | 'name'>;
  model?: Pick<ModelEntry, 'modelId' | 'task'>;
  /** The model had to be started for it. */
  cold?: boolean;
  /** Milliseconds that the call waited for a server. */
  waitedMs?: number;
  /** Tokens read and written, where the model counts them; not for plain text streams. */
  tokens?: TokenCounts | undefined;
  /** Absent for calls that reached no model. The time ends with the response's `close` event. */
  work?: {
    /** From performance.now(). */
    started: number;
    /** Dollars per second. */
    perSecond: number;
  };
}

/** The context of a response's call; handlers add to it. */
export function callContext({ locals }: Response): CallContext {
  return (locals['call'] ??= {}) as CallContext;
}
