import type { Delta, ToolCall } from '../../core/delta.js';
import type { Usage } from '../../core/usage.js';
import { writeChunk } from '../../wire/lifetime.js';
import { asRunError } from '../../wire/respond.js';
import type { DialectCall } from '../dialect.js';
import { openEvents } from '../events.js';
import type { AnswerPiece } from '../host.js';
import { openAiError } from '../openai/errors.js';
import { callItem, endOf, messageItem, newId, reasoningItem, reasoningPart, textPart } from './items.js';

/** Sends an answer as the events of a response: its items begin, grow and end, each with its index. */
export async function sendResponseEvents(
  { response }: DialectCall,
  pieces: AsyncIterable<AnswerPiece>,
  head: object,
): Promise<void> {
  openEvents(response);
  let sequence_number = 0;
  const send: Send = (type, data) => {
    const event = { type, sequence_number: sequence_number++, ...data };
    return writeChunk(response, `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`);
  };
  const beginning = { ...head, status: 'in_progress', output: [], usage: null };
  let usage: Usage | undefined;
  try {
    await send('response.created', { response: beginning });
    await send('response.in_progress', { response: beginning });
    const items = openItems(send);
    for await (const piece of pieces) {
      if ('usage' in piece) usage = piece.usage;
      else await items.add(piece);
    }
    const finish = usage?.finish?.[0] ?? 'stop';
    const output = await items.end();
    const end = endOf(finish, usage);
    const type = end.status === 'incomplete' ? 'response.incomplete' : 'response.completed';
    await send(type, { response: { ...head, ...end, output } });
  } catch (error) {
    const { message, code } = openAiError(asRunError(error));
    await Promise.allSettled([send('error', { code, message, param: null })]);
    throw error;
  }
  response.end();
}

type Send = (type: string, data: object) => Promise<void>;

/** An item that grows. */
interface OpenItem {
  key: string;
  grow(piece: Delta): Promise<void>;
  /** @returns the whole item */
  end(): Promise<object>;
}

interface OpenItems {
  add(piece: Delta): Promise<void>;
  /** @returns all items */
  end(): Promise<object[]>;
}

function openItems(send: Send): OpenItems {
  const whole: object[] = [];
  let open: OpenItem | undefined;
  const close = async () => {
    if (open) whole.push(await open.end());
    open = undefined;
  };
  return {
    async add(piece) {
      const key = keyOf(piece);
      if (open?.key !== key) {
        await close();
        open = await beginItem(send, { piece, key, output_index: whole.length });
      }
      await open.grow(piece);
    },
    async end() {
      await close();
      return whole;
    },
  };
}

const keyOf = (piece: Delta): string =>
  'call' in piece ? `call ${piece.call.index}` : 'reasoning' in piece ? 'reasoning' : 'text';

interface Begin {
  piece: Delta;
  key: string;
  output_index: number;
}

function beginItem(send: Send, begin: Begin): Promise<OpenItem> {
  const { piece } = begin;
  if ('call' in piece) return beginCall(send, begin);
  return 'text' in piece ? beginText(send, begin, TEXT) : beginText(send, begin, REASONING);
}

const TEXT = { prefix: 'msg', event: 'output_text', item: messageItem, part: textPart };
const REASONING = { prefix: 'rs', event: 'reasoning_text', item: reasoningItem, part: reasoningPart };

/** A message or a thought: an item with one part. */
async function beginText(
  send: Send,
  { key, output_index }: Begin,
  { prefix, event, item, part }: typeof TEXT | typeof REASONING,
): Promise<OpenItem> {
  const item_id = newId(prefix);
  const place = { item_id, output_index, content_index: 0 };
  let text = '';
  await send('response.output_item.added', { output_index, item: item(item_id, undefined, 'in_progress') });
  await send('response.content_part.added', { ...place, part: part('') });
  return {
    key,
    grow(piece) {
      const delta = 'text' in piece ? piece.text : 'reasoning' in piece ? piece.reasoning : '';
      text += delta;
      return send(`response.${event}.delta`, { ...place, delta, logprobs: [] });
    },
    async end() {
      await send(`response.${event}.done`, { ...place, text, logprobs: [] });
      await send('response.content_part.done', { ...place, part: part(text) });
      const whole = item(item_id, text, 'completed');
      await send('response.output_item.done', { output_index, item: whole });
      return whole;
    },
  };
}

async function beginCall(send: Send, { piece, key, output_index }: Begin): Promise<OpenItem> {
  const item_id = newId('fc');
  const { id, name } = (piece as { call: { id: string; name: string } }).call;
  const call: ToolCall = { id, type: 'function', function: { name, arguments: '' } };
  await send('response.output_item.added', { output_index, item: callItem(item_id, call, 'in_progress') });
  return {
    key,
    async grow(more) {
      if (!('call' in more) || !('arguments' in more.call)) return;
      call.function.arguments += more.call.arguments;
      const { arguments: delta } = more.call;
      await send('response.function_call_arguments.delta', { item_id, output_index, delta });
    },
    async end() {
      const { arguments: text } = call.function;
      await send('response.function_call_arguments.done', { item_id, output_index, name, arguments: text });
      const whole = callItem(item_id, call, 'completed');
      await send('response.output_item.done', { output_index, item: whole });
      return whole;
    },
  };
}
