import * as z from 'zod';
import { defineTask } from './define.js';
import { noiseParams, image, PIPELINE_FILES } from './diffusion.js';
import { params } from './fragments.js';

export default defineTask({
  title: 'Unconditional image generation',
  summary: 'Makes an image of the kind that the model has learned, out of noise.',
  modality: 'none',
  streams: false,
  tellsSteps: true,
  makes: 'image',
  profile: 'vision',
  input: z.object({ params: params(noiseParams) }),
  output: image,
  example: { params: { num_inference_steps: 20, seed: 1 } },
  engines: {
    diffusion: {
      head: 'unconditional-image',
      graphs: ['vqvae_decoder', 'unet'],
      otherGraphs: [['unet']],
      files: PIPELINE_FILES,
      example: (handle) => handle.example,
      run: (handle, { params: options }, context) => handle.make('', options, context),
    },
  },
});
