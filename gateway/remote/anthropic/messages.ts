import * as z from 'zod';
import { RunError } from '../../../runtime/core/errors.js';
import { malformed } from '../faults.js';
import type { RemoteCall, RemoteRequest, Translate } from '../kind.js';
import { continues } from '../messages.js';
import { assistant, saidOf } from '../said.js';
import { conversationOf } from './conversation.js';
import { answerFields, promptFields } from './params.js';
import { messagePieces } from './stream.js';

/**
 * Asks v1/messages. Whole answers are asked for as streams, too: only there the arguments of calls come as the model wrote
 * them.
 */
export const translateMessages: Translate = async (call) => {
  checkEnd(call);
  const prompt = { ...promptFields(call), ...(await conversationOf(call)) };
  if (call.params['count_only']) return countRequest(call, prompt);
  const stop = [call.params['stop'] ?? []].flat() as string[];
  return {
    path: '/v1/messages',
    body: { ...prompt, ...answerFields(call), stream: true },
    stream: {
      pieces: (events) => messagePieces(call.modelId, events, stop),
      output: (whole) => assistant(call, [saidOf(whole)]),
    },
  };
};

/** Their models always go on with the last message, where it is the assistant's. */
function checkEnd(call: RemoteCall): void {
  const { role } = (call.input['messages'] as { role: string }[]).at(-1)!;
  if (continues(call) === (role === 'assistant')) return;
  const message =
    role === 'assistant'
      ? 'params.continue_final_message: an answer goes on with the last message; end with another'
      : 'params.continue_final_message: the last message is not the assistant’s';
  throw new RunError('invalid_input', message);
}

const counted = z.object({ input_tokens: z.int().min(0) });

function countRequest(call: RemoteCall, body: Record<string, unknown>): RemoteRequest {
  return {
    path: '/v1/messages/count_tokens',
    body,
    read(json) {
      const parsed = counted.safeParse(json);
      if (!parsed.success) throw malformed(call.modelId, 'counts no tokens');
      const usage = { tokensIn: parsed.data.input_tokens, tokensOut: 0 };
      return { output: assistant(call, [{ text: '' }]), usage };
    },
  };
}
