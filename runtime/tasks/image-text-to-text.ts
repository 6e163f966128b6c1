import * as z from 'zod';
import { conversationAnswer, conversationParams } from './conversation.js';
import { defineTask } from './define.js';
import { PROCESSOR_FILES } from './fragments.js';
import { unstreamable } from './generated.js';
import { generationParams, withGenerateKwargs } from './generation-params.js';
import { converse, mediaMessages } from './media-conversation.js';
import { GENERATION_FILES } from './text-generation.js';
import { checkRawPrompt, rawParams } from './prompt-tokens.js';
import { checkTools } from './tool-params.js';
import { grammarParams } from './grammar-params.js';

export default defineTask({
  title: 'Image-text to text',
  summary: 'Answers the last message of a conversation that holds images.',
  modality: 'messages',
  blocks: 'image',
  streams: true,
  unstreamable,
  profile: 'vision',
  input: z
    .object({
      messages: mediaMessages(['image']),
      params: withGenerateKwargs({
        ...generationParams,
        ...grammarParams,
        ...rawParams,
        ...conversationParams,
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
          { type: 'image', url: 'https://example.com/harbour.jpg' },
          { type: 'text', text: 'What is in the image?' },
        ],
      },
    ],
    params: { max_new_tokens: 20 },
  },
  engines: {
    generation: {
      head: 'media-chat',
      graphs: ['embed_tokens', 'vision_encoder', 'encoder_model', 'decoder_model_merged'],
      otherGraphs: [['embed_tokens', 'vision_encoder', 'decoder_model_merged']],
      files: [...GENERATION_FILES, ...PROCESSOR_FILES, 'qformer_tokenizer/*'],
      tools: ({ tools }) => tools,
      run: converse,
    },
  },
});
