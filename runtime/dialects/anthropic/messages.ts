import { randomUUID } from 'node:crypto';
import { sendJson } from '../../wire/respond.js';
import { argumentsOf, type ChatAnswer } from '../chat/answer.js';
import { CHAT_TASKS } from '../chat/blocks.js';
import { answerChat, type ChatRequest, streamChat } from '../chat/request.js';
import type { DialectCall } from '../dialect.js';
import { dropNullish, IGNORED_HEADER } from '../fields.js';
import type { z } from 'zod';
import type { ServedModel } from '../host.js';
import { readRequest } from '../read-request.js';
import { requireModel } from '../require-model.js';
import { drawingParams, stopStrings } from '../sampling.js';
import { messagesBody } from './body.js';
import { messagesOf, promptParams } from './conversation.js';
import { endOf, stopsOf, usageOf } from './message-end.js';
import { sendMessageEvents } from './stream.js';

type MessagesBody = z.output<typeof messagesBody>;

/** POST v1/messages. */
export async function createMessage(call: DialectCall): Promise<void> {
  const { response, host } = call;
  const given = await readRequest(call, messagesBody, { tasks: CHAT_TASKS, pythonNumbers: true });
  tellUnknown(call, given);
  const model = requireModel(host, given.model, CHAT_TASKS);
  const asking = requestOf(model, given);
  const head = headOf(model);
  if (given.stream)
    return streamChat(call, asking, (pieces, asked) =>
      sendMessageEvents(call, { pieces, asked, asking, head }),
    );
  const begun = begunText(asking);
  await answerChat(call, asking, (answer, usage) => {
    const content = contentOf({ ...answer, content: answer.content.slice(begun.length) });
    const end = endOf(usage, answer.finish, stopsOf(asking));
    sendJson(response, 200, JSON.stringify({ ...head, content, ...end, usage: usageOf(usage) }));
  });
}

/** Fields that nothing here knows. */
function tellUnknown({ response }: DialectCall, given: MessagesBody): void {
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(messagesBody.shape, name));
  if (unknown.length > 0) response.setHeader(IGNORED_HEADER, unknown.join(', ').slice(0, 500));
}

/** @throws RunError 400 that names the field */
function requestOf(model: ServedModel, given: MessagesBody): ChatRequest {
  const { temperature, top_p, top_k, stop_sequences, max_tokens } = given;
  const format = given.output_format ?? given.output_config?.format;
  return {
    model,
    messages: messagesOf(model, given),
    params: dropNullish({
      ...promptParams(given),
      ...drawingParams({ temperature, top_p, top_k }),
      max_new_tokens: max_tokens,
      stop: stopStrings(stop_sequences),
      json_schema: format?.schema,
    }),
    names: { max_new_tokens: 'max_tokens' },
  };
}

/** The caller's own words that the answer goes on with, which are not part of it. */
function begunText({ messages, params }: ChatRequest): string {
  if (params['continue_final_message'] !== true) return '';
  const { content } = messages.at(-1)!;
  return typeof content === 'string' ? content : '';
}

function headOf({ modelId }: ServedModel) {
  return {
    ...{ id: `msg_${randomUUID().replaceAll('-', '').slice(0, 24)}`, type: 'message', role: 'assistant' },
    model: modelId,
  };
}

function contentOf(answer: ChatAnswer): object[] {
  const { content, reasoning, calls } = answer;
  return [
    ...(reasoning === '' ? [] : [{ type: 'thinking', thinking: reasoning, signature: '' }]),
    ...(content === '' ? [] : [{ type: 'text', text: content }]),
    ...calls.map((call) => ({
      ...{ type: 'tool_use', id: call.id, name: call.function.name },
      input: argumentsOf(call),
    })),
  ];
}
