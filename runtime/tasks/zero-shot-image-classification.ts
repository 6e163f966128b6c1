import * as z from 'zod';
import { candidateLabels, hypothesesOf } from './candidate-labels.js';
import { defineTask } from './define.js';
import { labelScore, params, PROCESSOR_FILES, TOKENIZER_FILES, withMedia } from './fragments.js';
import { ranked } from './scores.js';

const PHOTO = 'https://example.com/harbour.jpg';

export default defineTask({
  title: 'Zero-shot image classification',
  summary: 'Scores an image for labels of the caller’s choice, by how well each of them describes it.',
  modality: 'image',
  streams: false,
  profile: 'vision',
  input: withMedia({
    candidate_labels: candidateLabels,
    params: params({
      hypothesis_template: z
        .string()
        .default('This is a photo of {}.')
        .describe('a sentence with {} in place of the label'),
    }),
  }),
  output: z.array(labelScore),
  example: { url: PHOTO, candidate_labels: ['a ship', 'a train'] },
  engines: {
    transformers: {
      head: 'image-text-matching',
      graphs: ['model'],
      files: [...TOKENIZER_FILES, ...PROCESSOR_FILES],
      // Labels are never cut, and small models take few tokens.
      example: () => ({ url: PHOTO, candidate_labels: ['a'], params: { hypothesis_template: '{}' } }),
      async run(handle, { media, candidate_labels, params: { hypothesis_template } }, { signal }) {
        const hypotheses = hypothesesOf(candidate_labels, hypothesis_template);
        const logits = await handle.match(media.bytes, hypotheses, signal);
        const result = { logits, labels: candidate_labels, problem: 'single_label' as const };
        return ranked(result, handle.scoring, null);
      },
    },
  },
});
