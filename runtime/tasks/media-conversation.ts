import * as z from 'zod';
import type { Delta } from '../core/delta.js';
import { RunError } from '../core/errors.js';
import type { GeneratedText, MediaChat, MediaMessage } from '../core/handles/index.js';
import { DEFAULTS } from '../core/limits.js';
import { asAssistant, messageWith, templateVariables } from './conversation.js';
import type { Media, RunContext } from './define.js';
import { generationUsage } from './generated.js';
import { rawPromptOf } from './prompt-tokens.js';
import { type BlockInput, type BlockKind, contentOf } from './media-blocks.js';

/** Most media of one kind in a conversation. */
const MOST_MEDIA = 64;

const WORDS: Readonly<Record<BlockKind, string>> = { image: 'images', audio: 'audio', video: 'videos' };

/** Messages whose contents may hold media of these kinds. */
export function mediaMessages(kinds: readonly BlockKind[]) {
  let list = z.array(messageWith(contentOf(kinds))).min(1);
  for (const kind of kinds) {
    list = list.refine((all) => countOf(kind, all) <= MOST_MEDIA, {
      message: `take at most ${MOST_MEDIA} ${WORDS[kind]}`,
    });
  }
  return list;
}

type Message = z.output<ReturnType<typeof mediaMessages>>[number];

function countOf(kind: BlockKind, messages: readonly Message[]): number {
  const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  return blocks.filter(({ type }) => type === kind).length;
}

interface Asked {
  messages: readonly Message[];
  params: Parameters<MediaChat['chat']>[2] & {
    chat_template_kwargs?: Record<string, unknown> | null | undefined;
    enable_thinking?: boolean | null | undefined;
    apply_chat_template?: boolean | null | undefined;
  };
}

/** Goes on with a conversation, as the assistant. */
export async function* converse(
  handle: MediaChat,
  { messages, params: { chat_template_kwargs, enable_thinking, apply_chat_template, ...options } }: Asked,
  { signal, count }: RunContext,
): AsyncGenerator<string | Delta, ReturnType<typeof asAssistant>> {
  const given = messages.map(asHandled);
  checkLength(given);
  if (apply_chat_template === false) {
    const found = yield* continued(handle, rawPromptOf(messages)!, options, signal);
    count(generationUsage(found));
    return asAssistant(found, given, options.continue_final_message ?? false);
  }
  const { tools } = options;
  const variables = templateVariables({ tools, enable_thinking, ...chat_template_kwargs });
  const found: GeneratedText[] = yield* handle.chat(given, variables, options, signal);
  count(generationUsage(found));
  return asAssistant(found, given, options.continue_final_message);
}

/** @throws RunError 422 for a model that reads no text by itself */
function continued(
  { generate }: MediaChat,
  text: string,
  options: Asked['params'],
  signal: AbortSignal,
): ReturnType<MediaChat['chat']> {
  if (generate) return generate(text, options, signal);
  throw new RunError(
    'unprocessable',
    'params.apply_chat_template: this model continues no text without a medium',
  );
}

/** Media have been read by now: url and base64 have become `media`. */
function asHandled({ content, ...rest }: Message): MediaMessage {
  if (!Array.isArray(content)) return { ...rest, content };
  return {
    ...rest,
    content: content.map((block: BlockInput & { media?: Media }) =>
      block.type === 'text' ? block : { type: block.type, bytes: block.media!.bytes },
    ),
  };
}

/** Bodies with media may be large; their texts may be no longer than those of tasks without. */
function checkLength(messages: readonly MediaMessage[]): void {
  const texts = messages.flatMap(({ content }) =>
    Array.isArray(content) ? content.map((block) => ('text' in block ? block.text : '')) : (content ?? ''),
  );
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length <= DEFAULTS.maxTextBodyBytes) return;
  throw new RunError(
    'payload_too_large',
    `messages: their texts have ${length} characters, more than ${DEFAULTS.maxTextBodyBytes}`,
  );
}
