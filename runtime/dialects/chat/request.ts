import type { Usage } from '../../core/usage.js';
import { answerAll, askModel, setModelHeaders, sumTokens } from '../ask.js';
import type { DialectCall } from '../dialect.js';
import { streamEvents } from '../events.js';
import type { FieldNames } from '../field-names.js';
import type { AnswerPiece, AskedModel, ServedModel } from '../host.js';
import { type ChatAnswer, chatAnswers } from './answer.js';

/** A conversation to continue, as a dialect has read it. */
export interface ChatRequest {
  model: ServedModel;
  messages: readonly Record<string, unknown>[];
  params: Record<string, unknown>;
  /** How the caller calls the fields. */
  names: FieldNames;
}

/** A body of POST /run that answers with calls and reasoning apart. */
export function chatRunBody({ messages, params }: Pick<ChatRequest, 'messages' | 'params'>) {
  return { messages, params: { ...params, parse_response: true } };
}

/** Asks for a whole answer and gives it to `send`. */
export function answerChat(
  call: DialectCall,
  { model, names, ...chat }: ChatRequest,
  send: (answer: ChatAnswer, usage: Usage | undefined) => void,
): Promise<void> {
  return answerAll(call, { model, names, bodies: [chatRunBody(chat)] }, ([first]) =>
    send(chatAnswers(first!.output, first!.usage)[0]!, first!.usage),
  );
}

/**
 * Asks for a streamed answer; `send` gets its pieces, of which the last has the usage.
 * @param begin asks for a stream, by default one of events
 */
export function streamChat(
  { host, response }: DialectCall,
  { model, names, ...chat }: ChatRequest,
  send: (pieces: AsyncIterable<AnswerPiece>, asked: AskedModel) => Promise<void>,
  begin = streamEvents,
): Promise<void> {
  const body = chatRunBody(chat);
  return askModel(host, response, { model, names, bodies: [body] }, async (asked) => {
    const pieces = await begin(response, asked, body);
    setModelHeaders(response, asked);
    async function* counted(): AsyncGenerator<AnswerPiece> {
      for await (const piece of pieces) {
        const tokens = 'usage' in piece ? sumTokens([piece.usage]) : undefined;
        if (tokens) host.count(response, tokens);
        yield piece;
      }
    }
    await send(counted(), asked);
  });
}
