import * as z from 'zod';
import { objectLabels } from './candidate-labels.js';
import { defineTask } from './define.js';
import { detection, params, PROCESSOR_FILES, threshold, TOKENIZER_FILES, withMedia } from './fragments.js';

const PHOTO = 'https://example.com/harbour.jpg';

export default defineTask({
  title: 'Zero-shot object detection',
  summary: 'Finds objects of labels of the caller’s choice in an image.',
  modality: 'image',
  streams: false,
  profile: 'vision',
  input: withMedia({
    candidate_labels: objectLabels,
    params: params({
      threshold: threshold(0.1),
      top_k: z.int().min(0).nullish().describe('most rows in the answer; all by default'),
    }),
  }),
  output: z.array(detection),
  example: { url: PHOTO, candidate_labels: ['a ship', 'a train'] },
  engines: {
    transformers: {
      head: 'text-guided-detection',
      graphs: ['model'],
      files: [...TOKENIZER_FILES, ...PROCESSOR_FILES],
      // Labels are never cut, and small models take few tokens.
      example: () => ({ url: PHOTO, candidate_labels: ['a'] }),
      async run(handle, { media, candidate_labels, params: { threshold, top_k } }, { signal }) {
        const rows = await handle.detect(media.bytes, candidate_labels, threshold, signal);
        // Zero is "all", as in Python.
        return rows.slice(0, top_k || rows.length);
      },
    },
  },
});
