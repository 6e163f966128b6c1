import { sendJson } from '../../wire/respond.js';
import { askModel, countTokens } from '../ask.js';
import { CHAT_TASKS } from '../chat/blocks.js';
import { chatRunBody } from '../chat/request.js';
import type { DialectCall } from '../dialect.js';
import { readRequest } from '../read-request.js';
import { requireModel } from '../require-model.js';
import { countBody } from './body.js';
import { messagesOf, promptParams } from './conversation.js';

/** POST v1/messages/count_tokens: the tokens of the prompt that the conversation becomes. */
export async function countMessage(call: DialectCall): Promise<void> {
  const { response, host } = call;
  const given = await readRequest(call, countBody, { tasks: CHAT_TASKS, pythonNumbers: true });
  const model = requireModel(host, given.model, CHAT_TASKS);
  const body = chatRunBody({ messages: messagesOf(model, given), params: promptParams(given) });
  await askModel(
    host,
    response,
    { model, bodies: [body], names: { count_only: 'count_tokens' } },
    async (asked) => {
      const input_tokens = await countTokens(asked, body);
      sendJson(response, 200, JSON.stringify({ input_tokens }));
    },
  );
}
