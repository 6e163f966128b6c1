import { sendJson } from '../../wire/respond.js';
import { CHAT_TASKS } from '../chat/blocks.js';
import { answerChat, streamChat } from '../chat/request.js';
import type { DialectCall } from '../dialect.js';
import { readRequest } from '../read-request.js';
import { requireModel } from '../require-model.js';
import { responsesBody } from './body.js';
import { conversationOf } from './conversation.js';
import { endOf, itemsOf, responseHead } from './items.js';
import { sendResponseEvents } from './stream.js';

/** POST v1/responses. */
export async function createResponse(call: DialectCall): Promise<void> {
  const { response, host } = call;
  const given = await readRequest(call, responsesBody, { tasks: CHAT_TASKS, pythonNumbers: true });
  const model = requireModel(host, given.model, CHAT_TASKS);
  const asking = conversationOf(model, given);
  const head = responseHead(asking, given);
  if (given.stream) return streamChat(call, asking, (pieces) => sendResponseEvents(call, pieces, head));
  await answerChat(call, asking, (answer, usage) => {
    const body = { ...head, ...endOf(answer.finish, usage), output: itemsOf(answer) };
    sendJson(response, 200, JSON.stringify(body));
  });
}
