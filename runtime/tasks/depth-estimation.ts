import * as z from 'zod';
import { encodedJson, encodeRows } from '../core/encoded-json.js';
import { defineTask } from './define.js';
import { base64Png, params, PROCESSOR_FILES, withMedia } from './fragments.js';

export default defineTask({
  title: 'Depth estimation',
  summary: 'Estimates how far away each point of an image is.',
  modality: 'image',
  streams: false,
  profile: 'vision',
  input: withMedia({ params: params({}) }),
  output: z.object({
    formatted_predicted_depth_array: z
      .array(z.array(z.int()))
      .describe('the model’s own prediction, 0 to 255, row by row'),
    depth_png: base64Png,
  }),
  example: { url: 'https://example.com/harbour.jpg' },
  engines: {
    transformers: {
      head: 'depth-estimation',
      graphs: ['model'],
      files: PROCESSOR_FILES,
      async run(handle, { media }, { signal }) {
        const { levels, width, png } = await handle.estimate(media.bytes, signal);
        const image = Buffer.from(png).toString('base64');
        return encodedJson([
          '{"formatted_predicted_depth_array":',
          encodeRows(levels, width),
          `,"depth_png":"${image}"}`,
        ]);
      },
    },
  },
});
