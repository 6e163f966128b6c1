import { type Block, mediaBlock, requireReadable, textOrBlocks } from '../chat/blocks.js';
import type { ChatRequest } from '../chat/request.js';
import { toolParams, type ToolRequest } from '../chat/tools.js';
import { dropNullish } from '../fields.js';
import type { ServedModel } from '../host.js';
import { drawingParams } from '../sampling.js';
import type { Item, Part, ResponsesBody } from './body.js';

type Message = Record<string, unknown>;

/** The conversation of a request. @throws RunError 400 that names the field */
export function conversationOf(model: ServedModel, given: ResponsesBody): ChatRequest {
  const { temperature, top_p, max_output_tokens, reasoning } = given;
  return {
    model,
    messages: messagesOf(model, given),
    params: dropNullish({
      ...toolParams(toolsOf(given)),
      ...formatOf(given.text?.format),
      ...drawingParams({ temperature, top_p }),
      ...{ max_new_tokens: max_output_tokens, reasoning_effort: reasoning?.effort },
      continue_final_message: false,
    }),
    names: { max_new_tokens: 'max_output_tokens', reasoning_effort: 'reasoning.effort' },
  };
}

function formatOf(format: NonNullable<ResponsesBody['text']>['format']): Record<string, unknown> {
  if (format == null || format.type === 'text') return {};
  return format.type === 'json_object' ? { json_object: true } : { json_schema: format.schema };
}

/** Tools are flat here. */
function toolsOf({ tools, tool_choice, parallel_tool_calls }: ResponsesBody): ToolRequest {
  const nested = (name: string) => ({ type: 'function' as const, function: { name } });
  const choice =
    tool_choice == null || typeof tool_choice === 'string'
      ? tool_choice
      : tool_choice.type === 'function'
        ? nested(tool_choice.name)
        : {
            type: 'allowed_tools' as const,
            allowed_tools: {
              mode: tool_choice.mode,
              tools: tool_choice.tools.map(({ name }) => nested(name)),
            },
          };
  return {
    tools: tools?.map(({ name, description, parameters, strict }) => ({
      type: 'function',
      function: { name, description, parameters, strict },
    })),
    tool_choice: choice,
    parallel_tool_calls,
  };
}

function messagesOf(model: ServedModel, { instructions, input }: ResponsesBody): Message[] {
  const first = instructions ? [{ role: 'system', content: instructions }] : [];
  if (typeof input === 'string') return [...first, { role: 'user', content: input }];
  const messages: Message[] = [];
  for (const [i, item] of input.entries()) add(messages, item, { model, path: `input.${i}` });
  return [...first, ...messages];
}

interface Place {
  model: ServedModel;
  path: string;
}

/** What the assistant thought, said and called stands in items of its own; templates want one message. */
function add(messages: Message[], item: Item, place: Place): void {
  if (item.type === 'function_call_output') {
    const { call_id, output } = item;
    const { name } = callOf(messages, call_id);
    const content = contentOf(output, place);
    messages.push({ role: 'tool', tool_call_id: call_id, content, ...dropNullish({ name }) });
  } else if (item.type === 'function_call') {
    const { call_id: id, name, arguments: text } = item;
    const message = assistant(messages);
    const calls = (message['tool_calls'] ??= []) as object[];
    calls.push({ id, type: 'function', function: { name, arguments: text } });
  } else if (item.type === 'reasoning') {
    const content = item.content ?? [];
    if (content.length === 0) return;
    messages.push({
      ...{ role: 'assistant', content: '' },
      reasoning_content: content.map(({ text }) => text).join('\n'),
    });
  } else {
    const { role, content } = item;
    const said = contentOf(content, place);
    if (role === 'assistant') {
      const message = isOpen(messages.at(-1)) ? messages.at(-1)! : { role };
      if (message !== messages.at(-1)) messages.push(message);
      message['content'] = said;
    } else messages.push({ role: role === 'developer' ? 'system' : role, content: said });
  }
}

/** A message of the assistant that has thoughts only, so far. */
const isOpen = (message: Message | undefined): boolean =>
  message?.['role'] === 'assistant' && message['content'] === '' && message['tool_calls'] === undefined;

function assistant(messages: Message[]): Message {
  const last = messages.at(-1);
  if (last?.['role'] === 'assistant') return last;
  const message = { role: 'assistant', content: '' };
  messages.push(message);
  return message;
}

interface Call {
  id: string;
  function: { name: string };
}

function callOf(messages: readonly Message[], id: string): { name?: string } {
  const calls = messages.flatMap((message) => (message['tool_calls'] ?? []) as Call[]);
  return calls.find((call) => call.id === id)?.function ?? {};
}

function contentOf(content: string | readonly Part[], { model, path }: Place): string | Block[] {
  if (typeof content === 'string') return content;
  const blocks = content.map((one, i) => requireReadable(model, blockOf(one), `${path}.content.${i}`));
  return textOrBlocks(blocks);
}

function blockOf(part: Part): Block {
  switch (part.type) {
    case 'input_image':
      return mediaBlock('image', part.image_url);
    case 'input_audio':
      return { type: 'audio', base64: part.input_audio.data };
    case 'refusal':
      return { type: 'text', text: part.refusal };
    default:
      return { type: 'text', text: part.text };
  }
}
