import * as z from 'zod';
import { conversationAnswer, conversationParams } from './conversation.js';
import { defineTask } from './define.js';
import { params, PROCESSOR_FILES } from './fragments.js';
import { unstreamable } from './generated.js';
import { generationParams } from './generation-params.js';
import { converse, mediaMessages } from './media-conversation.js';
import { GENERATION_FILES } from './text-generation.js';
import { checkRawPrompt, rawParams } from './prompt-tokens.js';
import { checkTools } from './tool-params.js';
import { grammarParams } from './grammar-params.js';

/** Of a video; no model reads as many. */
const MOST_FRAMES = 1024;

export default defineTask({
  title: 'Video-text to text',
  summary: 'Answers the last message of a conversation that holds videos.',
  modality: 'messages',
  blocks: 'video',
  streams: true,
  unstreamable,
  profile: 'media',
  input: z
    .object({
      messages: mediaMessages(['video', 'image']),
      params: params({
        ...generationParams,
        ...grammarParams,
        ...rawParams,
        ...conversationParams,
        num_frames: z
          .int()
          .min(1)
          .max(MOST_FRAMES)
          .nullish()
          .describe('most frames to read of a video; the model’s own number by default'),
        fps: z
          .number()
          .positive()
          .max(MOST_FRAMES)
          .nullish()
          .describe('frames to read of each second; the model’s own number by default'),
      }),
    })
    .superRefine(checkTools)
    .superRefine(checkRawPrompt),
  output: conversationAnswer,
  example: {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'video', url: 'https://example.com/surfing.mp4' },
          { type: 'text', text: 'What happens in the video?' },
        ],
      },
    ],
    params: { max_new_tokens: 20 },
  },
  engines: {
    generation: {
      head: 'media-chat',
      graphs: ['embed_tokens', 'vision_encoder', 'decoder_model_merged'],
      files: [...GENERATION_FILES, ...PROCESSOR_FILES, 'video_preprocessor_config.json'],
      tools: ({ tools }) => tools,
      run: converse,
    },
  },
});
