import * as z from 'zod';
import { defineTask } from './define.js';
import { detection, params, PROCESSOR_FILES, threshold, withMedia } from './fragments.js';

export default defineTask({
  title: 'Object detection',
  summary: 'Finds the objects that the model knows in an image.',
  modality: 'image',
  streams: false,
  profile: 'vision',
  input: withMedia({ params: params({ threshold: threshold(0.5) }) }),
  output: z.array(detection),
  example: { url: 'https://example.com/harbour.jpg' },
  engines: {
    transformers: {
      head: 'object-detection',
      graphs: ['model'],
      files: PROCESSOR_FILES,
      run: (handle, { media, params: { threshold } }, { signal }) =>
        handle.detect(media.bytes, threshold, signal),
    },
  },
});
