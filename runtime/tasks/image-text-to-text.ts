import { z } from 'zod';
import { RunError } from '../core/errors.js';
import type { PictureMessage } from '../core/handles/index.js';
import { DEFAULTS } from '../core/limits.js';
import { defineTask, type Media } from './define.js';
import { params, PROCESSOR_FILES } from './fragments.js';
import { generationUsage, unstreamable } from './generated.js';
import { generationParams } from './generation-params.js';
import { asAssistant, conversationAnswer, conversationParams, messageWith } from './conversation.js';
import { content, MAX_PICTURES, type PictureContent } from './picture-blocks.js';
import { GENERATION_FILES } from './text-generation.js';

const message = messageWith(content);

const PICTURE = 'https://example.com/harbour.jpg';

export default defineTask({
  title: 'Image-text to text',
  summary: 'Answers the last message of a conversation that holds pictures.',
  modality: 'messages',
  blocks: 'image',
  streams: true,
  unstreamable,
  profile: 'vision',
  input: z.object({
    messages: z
      .array(message)
      .min(1)
      .refine((all) => pictureCount(all) <= MAX_PICTURES, {
        message: `take at most ${MAX_PICTURES} pictures`,
      }),
    params: params({ ...generationParams, ...conversationParams }),
  }),
  output: conversationAnswer,
  example: {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', url: PICTURE },
          { type: 'text', text: 'What is in the picture?' },
        ],
      },
    ],
    params: { max_new_tokens: 20 },
  },
  engines: {
    generation: {
      head: 'image-text-to-text',
      graphs: ['embed_tokens', 'vision_encoder', 'encoder_model', 'decoder_model_merged'],
      otherGraphs: [['embed_tokens', 'vision_encoder', 'decoder_model_merged']],
      files: [...GENERATION_FILES, ...PROCESSOR_FILES],
      async *run(handle, { messages, params: options }, { signal, count }) {
        const { chat_template_kwargs, ...generation } = options;
        const given = messages.map(asHandled);
        checkLength(given);
        const found = yield* handle.chat(given, chat_template_kwargs ?? {}, generation, signal);
        count(generationUsage(found));
        return asAssistant(found, given, options.continue_final_message);
      },
    },
  },
});

type Message = z.output<typeof message>;

function pictureCount(messages: readonly Message[]): number {
  const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  return blocks.filter(({ type }) => type === 'image').length;
}

/** Pictures have been read by now: url and base64 have become `media`. */
function asHandled({ content, ...rest }: Message): PictureMessage {
  if (!Array.isArray(content)) return { ...rest, content };
  return {
    ...rest,
    content: content.map((block: PictureContent & { media?: Media }) =>
      block.type === 'text' ? block : { type: 'image' as const, image: block.media!.bytes },
    ),
  };
}

/** Bodies with pictures may be large; their texts may be no longer than those of tasks without. */
function checkLength(messages: readonly PictureMessage[]): void {
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
