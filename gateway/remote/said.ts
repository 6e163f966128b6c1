import { asAssistant } from '../../runtime/tasks/conversation.js';
import type { Said } from '../../runtime/tasks/generated.js';
import type { WholeText } from './answer.js';
import type { RemoteCall } from './kind.js';

/** What the pieces of an answer say together. */
export function saidOf({ text, reasoning, calls }: WholeText): Said {
  return {
    text,
    reasoning: reasoning === '' ? undefined : reasoning,
    toolCalls: calls.length > 0 ? calls : undefined,
  };
}

/** The output of a conversation's task. */
export function assistant({ input, params }: RemoteCall, said: readonly Said[]) {
  return asAssistant(
    said,
    input['messages'] as Parameters<typeof asAssistant>[1],
    params['continue_final_message'] as boolean | undefined,
  );
}
