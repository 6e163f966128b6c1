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

export default defineTask({
  title: 'Audio-text to text',
  summary: 'Answers the last message of a conversation that holds audio.',
  modality: 'messages',
  blocks: 'audio',
  streams: true,
  unstreamable,
  profile: 'media',
  input: z
    .object({
      messages: mediaMessages(['audio']),
      params: params({ ...generationParams, ...grammarParams, ...rawParams, ...conversationParams }),
    })
    .superRefine(checkTools)
    .superRefine(checkRawPrompt),
  output: conversationAnswer,
  example: {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'audio', url: 'https://example.com/interview.mp3' },
          { type: 'text', text: 'What is said?' },
        ],
      },
    ],
    params: { max_new_tokens: 20 },
  },
  engines: {
    generation: {
      head: 'media-chat',
      graphs: ['embed_tokens', 'audio_encoder', 'decoder_model_merged'],
      files: [...GENERATION_FILES, ...PROCESSOR_FILES],
      tools: ({ tools }) => tools,
      run: converse,
    },
  },
});
