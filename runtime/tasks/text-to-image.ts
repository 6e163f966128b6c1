import * as z from 'zod';
import { defineTask } from './define.js';
import { image, PIPELINE_FILES, prompt, PROMPT_FILES, promptParams } from './diffusion.js';
import { params } from './fragments.js';

/** As much as these pipelines take. */
const LONGEST_SEQUENCE = 512;

export default defineTask({
  title: 'Text to image',
  summary: 'Makes an image of what a text describes.',
  modality: 'text',
  streams: false,
  tellsSteps: true,
  makes: 'image',
  profile: 'vision',
  input: z.object({
    text: prompt,
    params: params({
      ...promptParams,
      max_sequence_length: z
        .int()
        .min(1)
        .max(LONGEST_SEQUENCE)
        .nullish()
        .describe('tokens that T5 reads of the text; Stable Diffusion 3 and Flux'),
      guidance_rescale: z
        .number()
        .min(0)
        .max(1)
        .nullish()
        .describe('share of the result that keeps the contrast it has without the negative prompt'),
    }),
  }),
  output: image,
  example: { text: 'A lighthouse at dusk, oil painting', params: { num_inference_steps: 20, seed: 1 } },
  engines: {
    diffusion: {
      head: 'text-to-image',
      graphs: ['text_encoder', 'text_encoder_2', 'unet', 'vae_decoder'],
      otherGraphs: [
        ['text_encoder', 'unet', 'vae_decoder'],
        ['text_encoder', 'text_encoder_2', 'text_encoder_3', 'transformer', 'vae_decoder'],
        ['text_encoder', 'text_encoder_2', 'transformer', 'vae_decoder'],
      ],
      files: [...PIPELINE_FILES, ...PROMPT_FILES],
      example: (handle) => handle.example,
      run: (handle, { text, params: options }, context) => handle.make(text, options, context),
    },
  },
});
