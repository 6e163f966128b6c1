import type { Delta } from '../../core/delta.js';
import type { Usage } from '../../core/usage.js';
import { writeChunk } from '../../wire/lifetime.js';
import { asRunError } from '../../wire/respond.js';
import { countTokensIfPossible } from '../ask.js';
import { chatRunBody, type ChatRequest } from '../chat/request.js';
import type { DialectCall } from '../dialect.js';
import { openEvents } from '../events.js';
import type { AnswerPiece, AskedModel } from '../host.js';
import { anthropicError } from './errors.js';
import { countsOf, endOf, stopsOf, usageOf } from './message-end.js';

export interface MessageStream {
  pieces: AsyncIterable<AnswerPiece>;
  asked: AskedModel;
  asking: ChatRequest;
  head: object;
}

/** Sends an answer as the events of a message: each block of content begins, grows and ends. */
export async function sendMessageEvents(
  { response }: DialectCall,
  { pieces, asked, asking, head }: MessageStream,
): Promise<void> {
  // Clients want the prompt's tokens in the first event; where they are not known yet, the last one corrects it.
  const tokensIn = (await countTokensIfPossible(asked, chatRunBody(asking))) ?? 0;
  openEvents(response);
  const send = (type: string, data: object) =>
    writeChunk(response, `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  let usage: Usage | undefined;
  try {
    const message = { ...head, content: [], stop_reason: null, stop_sequence: null };
    await send('message_start', { message: { ...message, usage: usageOf({ tokensIn }) } });
    const blocks = openBlocks(send);
    for await (const piece of pieces) {
      if ('usage' in piece) usage = piece.usage;
      else await blocks.add(piece);
    }
    await blocks.end();
    const delta = endOf(usage, usage?.finish?.[0] ?? 'stop', stopsOf(asking));
    await send('message_delta', { delta, usage: countsOf(usage) });
    await send('message_stop', {});
  } catch (error) {
    await Promise.allSettled([send('error', { error: anthropicError(asRunError(error)) })]);
    throw error;
  }
  response.end();
}

type Send = (type: string, data: object) => Promise<void>;

/** Blocks of content, one after the other. */
function openBlocks(send: Send) {
  let index = -1;
  let open: string | undefined;
  async function begin(key: string, content_block: object): Promise<void> {
    if (open === key) return;
    await end();
    open = key;
    await send('content_block_start', { index: ++index, content_block });
  }
  async function end(): Promise<void> {
    if (open === undefined) return;
    open = undefined;
    await send('content_block_stop', { index });
  }
  const grow = (delta: object) => send('content_block_delta', { index, delta });
  return {
    end,
    async add(piece: Delta): Promise<void> {
      if ('text' in piece) {
        await begin('text', { type: 'text', text: '' });
        return grow({ type: 'text_delta', text: piece.text });
      }
      if ('reasoning' in piece) {
        await begin('thinking', { type: 'thinking', thinking: '', signature: '' });
        return grow({ type: 'thinking_delta', thinking: piece.reasoning });
      }
      if (!('call' in piece)) return;
      const { call } = piece;
      if ('name' in call) {
        const { id, name } = call;
        return begin(`call ${call.index}`, { type: 'tool_use', id, name, input: {} });
      }
      return grow({ type: 'input_json_delta', partial_json: call.arguments });
    },
  };
}
