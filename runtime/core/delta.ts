import type { TokenLogprob } from './token-logprob.js';

/**
 * A piece of an answer, as it is written. Pieces of a kind, joined, are the whole of that part of the answer; what was
 * told is never taken back.
 */
export type Delta =
  /** More of the content. */
  | { text: string }
  /** More of what the model thinks before it answers. */
  | { reasoning: string }
  /** A call of a tool begins. Calls are counted from 0. */
  | { call: { index: number; id: string; name: string } }
  /** More of the JSON text of that call's arguments. */
  | { call: { index: number; arguments: string } }
  /** A token was written; what text it makes certain, if any, follows. Only where asked for (`stream_tokens`). */
  | { token: TokenLogprob };

/** One call of a tool in a whole answer. */
export interface ToolCall {
  id: string;
  type: 'function';
  /** `arguments` is JSON text, with the model's own characters where it writes JSON. */
  function: { name: string; arguments: string };
}
