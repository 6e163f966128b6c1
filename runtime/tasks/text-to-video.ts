import * as z from 'zod';
import { defineTask } from './define.js';
import { PIPELINE_FILES, prompt, PROMPT_FILES, promptParams } from './diffusion.js';
import { params } from './fragments.js';

/** Half a minute. */
const MOST_FRAMES = 256;

export default defineTask({
  title: 'Text to video',
  summary: 'Makes a video of what a text describes, with eight frames a second.',
  modality: 'text',
  streams: false,
  tellsSteps: true,
  makes: 'video',
  profile: 'media',
  input: z.object({
    text: prompt,
    params: params({
      ...promptParams,
      num_frames: z.int().min(1).max(MOST_FRAMES).nullish().describe('frames, 16 by default'),
      format: z
        .enum(['mp4', 'webm'])
        .nullish()
        .describe('mp4 (H.264) by default, or webm (VP9); no parameter of Python’s'),
    }),
  }),
  output: z.string().describe('data URL of an MP4 or WebM file, or with json: true the file itself'),
  example: { text: 'Waves roll onto a beach at sunset', params: { num_inference_steps: 20, seed: 1 } },
  engines: {
    diffusion: {
      head: 'text-to-video',
      graphs: ['text_encoder', 'unet', 'vae_decoder'],
      files: [...PIPELINE_FILES, ...PROMPT_FILES],
      example: (handle) => handle.example,
      run: (handle, { text, params: options }, context) => handle.make(text, options, context),
    },
  },
});
