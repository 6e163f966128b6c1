import { type Block, mediaBlock, requireReadable, textOrBlocks } from '../chat/blocks.js';
import { toolParams } from '../chat/tools.js';
import { dropNullish } from '../fields.js';
import type { ServedModel } from '../host.js';
import type { ContentBlock, Conversation } from './body.js';

type Message = Record<string, unknown>;

/** The messages of a conversation, as tasks have them; the system's first. */
export function messagesOf(model: ServedModel, { system, messages }: Conversation): Message[] {
  const names = new Map<string, string>();
  const first = system == null ? '' : textOf(system);
  return [
    ...(first === '' ? [] : [{ role: 'system', content: first }]),
    ...messages.flatMap((message, i) => translate(model, message, { path: `messages.${i}`, names })),
  ];
}

const textOf = (content: string | readonly { text: string }[]): string =>
  typeof content === 'string' ? content : content.map(({ text }) => text).join('\n');

interface Place {
  path: string;
  /** Names of tools by the ids of their calls. */
  names: Map<string, string>;
}

/** One message becomes several where it holds results of tools. */
function translate(
  model: ServedModel,
  { role, content }: Conversation['messages'][number],
  { path, names }: Place,
): Message[] {
  if (typeof content === 'string') return [{ role, content }];
  if (role === 'assistant') return [assistantMessage(content, names)];
  const results: Message[] = [];
  const rest: Block[] = [];
  for (const [i, block] of content.entries()) {
    const at = `${path}.content.${i}`;
    if (block.type === 'tool_result') {
      const { tool_use_id: id, content: result } = block;
      results.push({
        ...{ role: 'tool', tool_call_id: id, content: resultOf(model, result, at) },
        ...dropNullish({ name: names.get(id) }),
      });
    } else if (block.type === 'text') rest.push({ type: 'text', text: block.text });
    else if (block.type === 'image') rest.push(requireReadable(model, imageOf(block), at));
  }
  return [...results, ...(rest.length === 0 ? [] : [{ role, content: textOrBlocks(rest) }])];
}

function resultOf(
  model: ServedModel,
  content: Extract<ContentBlock, { type: 'tool_result' }>['content'],
  path: string,
): string | Block[] {
  if (content == null || typeof content === 'string') return content ?? '';
  const blocks = content.map((block) =>
    block.type === 'text'
      ? { type: 'text', text: block.text }
      : requireReadable(model, imageOf(block), `${path}.content`),
  );
  return textOrBlocks(blocks);
}

const imageOf = ({ source }: Extract<ContentBlock, { type: 'image' }>): Block =>
  mediaBlock('image', source.type === 'url' ? source.url : source.data);

function assistantMessage(content: readonly ContentBlock[], names: Map<string, string>): Message {
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  const thoughts = content.flatMap((block) => (block.type === 'thinking' ? [block.thinking] : []));
  const calls = content.flatMap((block) => {
    if (block.type !== 'tool_use') return [];
    const { id, name, input } = block;
    names.set(id, name);
    return [{ id, type: 'function', function: { name, arguments: input } }];
  });
  return {
    ...{ role: 'assistant', content: texts.join('\n') },
    ...(thoughts.length === 0 ? {} : { reasoning_content: thoughts.join('\n') }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

/** Params of POST /run that the conversation's prompt depends on. @throws RunError 400 */
export function promptParams({
  tools,
  tool_choice,
  thinking,
  messages,
}: Conversation): Record<string, unknown> {
  const choice = tool_choice ?? { type: 'auto' };
  const disabled = 'disable_parallel_tool_use' in choice && choice.disable_parallel_tool_use === true;
  return {
    ...toolParams({
      tools: tools?.map(({ name, description, input_schema: parameters, strict }) => ({
        type: 'function',
        function: { name, description, parameters, strict },
      })),
      tool_choice: CHOICES[choice.type](choice),
      parallel_tool_calls: !disabled,
    }),
    ...(thinking ? { enable_thinking: thinking.type !== 'disabled' } : {}),
    // Their models go on with the assistant's last message.
    continue_final_message: messages.at(-1)!.role === 'assistant',
  };
}

const CHOICES = {
  auto: () => 'auto' as const,
  any: () => 'required' as const,
  none: () => 'none' as const,
  tool: (choice: object) => ({
    type: 'function' as const,
    function: { name: (choice as { name: string }).name },
  }),
};
